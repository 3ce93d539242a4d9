"""Questions with the evidence that answers them, from JSON lines and back."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spanwise.documents import Document
from spanwise.errors import LoadError, OptionError, shown
from spanwise.evaluate.quotes import quotations

__all__ = [
    "Evidence",
    "Question",
    "by_uri",
    "checked_questions",
    "questions_of",
    "read_questions",
    "to_json",
    "write_questions",
]

# How far from its "start" a quotation may stand that is there more than once.
_NEAR = 200

# What is written as escapes: half of a pair, what some readers take for the end of a line, and what
# a terminal or an editor would act on.
_ESCAPED = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

_QUERY, _DOCUMENT = ("query", "question"), ("document", "doc")


@dataclass(frozen=True, slots=True)
class Evidence:
    """A range of a document that answers a question: ``[start, end)`` in code points."""

    document: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and all that answers it. ``group`` is any kind to tell apart."""

    query: str
    evidence: tuple[Evidence, ...]
    id: str = ""
    group: str = ""


def by_uri(documents: Iterable[Document]) -> dict[str, Document]:
    """Documents by their uris; `OptionError` for one without, and for two of one uri."""
    if not isinstance(documents, Iterable):
        raise OptionError(f"documents={shown(documents)} is no list; put one in a list too")
    found: dict[str, Document] = {}
    for each in documents:
        if not isinstance(each, Document) or not each.uri:
            raise OptionError(
                f"documents holds {shown(each)}, which is no Document with a uri; give it a name "
                "with Document(text=..., uri=...)"
            )
        if each.uri in found:
            raise OptionError(
                f"documents holds two of the uri {shown(each.uri)}; give each a uri of its own"
            )
        found[each.uri] = each
    return found


def checked_questions(questions: Iterable[Question]) -> tuple[Question, ...]:
    """The questions; `OptionError` for what is none, or has no evidence of the right kind."""
    if not isinstance(questions, Iterable):
        raise OptionError(f"questions={shown(questions)} is no list; put one in a list too")
    made = tuple(questions)
    for each in made:
        if not isinstance(each, Question):
            raise OptionError(
                f"questions holds {shown(each)}, which is no Question; give it as "
                "Question(query, (Evidence(document, start, end),)), or read a file with "
                "read_questions"
            )
        for name in ("query", "id", "group"):
            value = getattr(each, name)
            if not isinstance(value, str):
                raise OptionError(f"{name}={shown(value)} of a question is no string; give one")
        evidence = each.evidence
        are_ranges = isinstance(evidence, Iterable) and all(
            isinstance(one, Evidence) and isinstance(one.document, str) for one in evidence
        )
        if not are_ranges:
            raise OptionError(
                f"evidence={shown(evidence)} of a question is no tuple of Evidence; give for "
                "example (Evidence('refunds.md', 11, 43),)"
            )
    return made


def read_questions(
    path: str | os.PathLike[str], documents: Iterable[Document]
) -> tuple[Question, ...]:
    """The questions of a file, one JSON object a line.

    Evidence is ``{"document", "start", "end"}`` or ``{"document", "text"}``: a quotation, found
    word for word but for its white space. It stands in the line itself beside ``query``, or in
    its list ``evidence``, where one without ``document`` is of the line's. A quotation that is
    there more than once needs a ``start`` near it. ``document`` is a uri or its last parts where
    only one ends so. ``id`` and ``group`` are optional.

    Raises `LoadError` with the line of the fault.
    """
    name = os.fspath(path)
    try:
        raw = Path(path).read_bytes()
    except OSError as fault:
        raise LoadError(f"{name}: it cannot be read: {fault.strerror}; check the path") from None
    return questions_of(raw, name, documents)


def questions_of(raw: bytes, name: str, documents: Iterable[Document]) -> tuple[Question, ...]:
    """The questions in what a file of a name holds."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise LoadError(
            f"{name}: byte {fault.start} is not UTF-8; save the questions as UTF-8"
        ) from None
    known = by_uri(documents)
    made: list[Question] = []
    lines: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            question = _Line(f"{name}, line {number}", known).read(line, number)
            if question.id in lines:
                raise LoadError(
                    f"{name}, line {number}: the id {shown(question.id)} is that of line "
                    f"{lines[question.id]}; give each question an id of its own, or none"
                )
            lines[question.id] = number
            made.append(question)
    if not made:
        raise LoadError(
            f'{name}: it holds no question; write one a line, such as {{"query": "...", '
            '"document": "...", "text": "..."}'
        )
    return tuple(made)


def write_questions(
    path: str | os.PathLike[str], questions: Iterable[Question], documents: Iterable[Document] = ()
) -> None:
    """Write questions as `read_questions` reads them; quoted too where ``documents`` has them."""
    known = by_uri(documents)
    lines = [to_json(each, known) + "\n" for each in checked_questions(questions)]
    try:
        Path(path).write_text("".join(lines), encoding="utf-8", newline="\n")
    except OSError as fault:
        raise LoadError(
            f"{os.fspath(path)}: it cannot be written: {fault.strerror}; check the path"
        ) from None


def to_json(
    question: Question, documents: Mapping[str, Document], *, ensure_ascii: bool = False
) -> str:
    """A question as one line of JSON, with the text of its evidence."""
    plain: dict[str, Any] = {"query": question.query}
    evidence = []
    for each in question.evidence:
        one: dict[str, Any] = {"document": each.document, "start": each.start, "end": each.end}
        if each.document in documents:
            one["text"] = documents[each.document].text[each.start : each.end]
        evidence.append(one)
    plain |= evidence[0] if len(evidence) == 1 else {"evidence": evidence}
    plain |= {"id": question.id} if question.id else {}
    plain |= {"group": question.group} if question.group else {}
    line = json.dumps(plain, ensure_ascii=ensure_ascii)
    return _ESCAPED.sub(lambda each: json.dumps(each[0])[1:-1], line)


class _Line:
    """A line of a file of questions; ``place`` begins each message."""

    def __init__(self, place: str, documents: Mapping[str, Document]) -> None:
        self._place = place
        self._documents = documents

    def read(self, line: str, number: int) -> Question:
        try:
            said = json.loads(line)
        except (ValueError, RecursionError) as fault:
            raise self._fault(f"it is no JSON ({fault})", "write one object a line") from None
        if not isinstance(said, dict):
            raise self._fault(f"{shown(said)} is no object", 'write {"query": ..., ...}')
        query = _first(said, _QUERY)
        if not isinstance(query, str) or not query.strip():
            raise self._fault(f'"query" is {shown(query)}', "give the question as a string")
        evidence = said.get("evidence")
        if isinstance(evidence, dict | str):
            evidence = [evidence]
        if evidence is None:
            evidence = [said]
        if not isinstance(evidence, list) or not evidence:
            raise self._fault(
                f'"evidence" is {shown(evidence)}', "give a list of at least one range or quotation"
            )
        found = dict.fromkeys(self._evidence(each, said) for each in evidence)
        names = {key: said.get(key) for key in ("id", "group")}
        for key, value in names.items():
            if isinstance(value, bool) or not isinstance(value, str | int | None):
                raise self._fault(f'"{key}" is {shown(value)}', "give a string, or leave it out")
        name, group = ("" if value is None else str(value) for value in names.values())
        return Question(query, tuple(found), name or f"line {number}", group)

    def _evidence(self, given: Any, line: Mapping[str, Any]) -> Evidence:
        said = {"text": given} if isinstance(given, str) else given
        if not isinstance(said, dict):
            raise self._fault(
                f"evidence {shown(given)} is no object",
                'give {"document", "start", "end"} or {"document", "text"}',
            )
        uri = _first(said, _DOCUMENT)
        document = self._document(_first(line, _DOCUMENT) if uri is None else uri)
        text, start, end = said.get("text"), said.get("start"), said.get("end")
        for key, value in (("start", start), ("end", end)):
            if value is not None and type(value) is not int:
                raise self._fault(f'"{key}" is {shown(value)}', "give a whole number of characters")
        is_there = start is not None and end is not None and 0 <= start < end
        if text is None or (is_there and document.text[start:end] == text):
            return self._range(document, start, end)
        if not isinstance(text, str) or not text.strip():
            raise self._fault(f'"text" is {shown(text)}', "quote what answers the question")
        return self._quotation(document, text, start)

    def _document(self, name: Any) -> Document:
        if not isinstance(name, str) or not name:
            raise self._fault(f'"document" is {shown(name)}', "name the document of the evidence")
        if name in self._documents:
            return self._documents[name]
        ending = [uri for uri in self._documents if uri.endswith("/" + name.removeprefix("./"))]
        if len(ending) == 1:
            return self._documents[ending[0]]
        if ending:
            raise self._fault(
                f"{len(ending)} documents end in {shown(name)}",
                f"name one whole, such as {shown(ending[0])}",
            )
        some = next(iter(self._documents), None)
        like = f", such as {shown(some)}" if some else ""
        raise self._fault(f"there is no document {shown(name)}", f"name one that there is{like}")

    def _range(self, document: Document, start: int | None, end: int | None) -> Evidence:
        length = len(document.text)
        if start is None or end is None:
            missing = '"start"' if start is None else '"end"'
            raise self._fault(
                f"{missing} is missing", 'give "start" and "end", or quote the evidence as "text"'
            )
        if not 0 <= start < end <= length:
            raise self._fault(
                f"[{start}, {end}) is no range of {shown(document.uri)}, which has {length:,} "
                "characters",
                "give 0 <= start < end <= its length, or quote the evidence",
            )
        return Evidence(document.uri, start, end)

    def _quotation(self, document: Document, text: str, near: int | None) -> Evidence:
        found = quotations(document.text, text)
        if near is not None and len(found) > 1:
            found.sort(key=lambda each: abs(each[0] - near))
            first, second = (abs(each[0] - near) for each in found[:2])
            if first <= _NEAR and first < second:
                found = found[:1]
        if len(found) == 1:
            return Evidence(document.uri, *found[0])
        where = shown(document.uri)
        if not found:
            raise self._fault(
                f"the text {shown(text)} is not in {where}", "quote it word for word from there"
            )
        places = ", ".join(str(start) for start, _ in sorted(found)[:3])
        raise self._fault(
            f"the text {shown(text)} is {len(found)} times in {where}, at {places}"
            + (", …" if len(found) > 3 else ""),
            'quote more of it, or give "start" too',
        )

    def _fault(self, what: str, way_out: str) -> LoadError:
        return LoadError(f"{self._place}: {what}; {way_out}")


def _first(said: Mapping[str, Any], names: Iterable[str]) -> Any:
    """The value of the first name that is there."""
    present: Iterator[Any] = (said[name] for name in names if said.get(name) is not None)
    return next(present, None)
