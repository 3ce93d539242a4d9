"""Documents on one line of positions, so that places in all of them are plain ranges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from spanwise.cutting.spans import trim
from spanwise.documents import Document
from spanwise.errors import OptionError, shown
from spanwise.evaluate.measures import Range, measure, merged
from spanwise.evaluate.questions import Question, by_uri

__all__ = ["Corpus", "numbered"]


class Corpus:
    """Documents one after another, with a gap between two."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.documents = by_uri(documents)
        self._begins: dict[str, int] = {}
        at = 0
        for uri, document in self.documents.items():
            self._begins[uri] = at
            at += len(document.text) + 1
        self.size = sum(len(each.text) for each in self.documents.values())

    def place(self, uri: str, start: int, end: int) -> Range:
        """A range of a document on the line."""
        begin = self._begins[uri]
        return begin + start, begin + end

    def evidence(self, question: Question) -> tuple[list[Range], list[float]]:
        """The evidence of a question on the line, and the share of it in each document.

        White space at its ends is left out, since no passage begins or ends with any.
        """
        found: dict[str, list[Range]] = {}
        for each in question.evidence:
            document = self.documents.get(each.document)
            length = -1 if document is None else len(document.text)
            is_whole = type(each.start) is type(each.end) is int
            if not is_whole or document is None or not 0 <= each.start < each.end <= length:
                raise OptionError(
                    f"question {shown(question.id or question.query)}: evidence {shown(each)} is "
                    "no range of the documents; give each a document that is there and "
                    "0 <= start < end <= its length"
                )
            start, end = trim(document.text, each.start, each.end)
            if start == end:
                raise OptionError(
                    f"question {shown(question.id or question.query)}: evidence {shown(each)} is "
                    "white space; give a range that holds text"
                )
            found.setdefault(each.document, []).append(self.place(each.document, start, end))
        if not found:
            raise OptionError(
                f"question {shown(question.id or question.query)} has no evidence; give at least "
                "one range that answers it"
            )
        sizes = [measure(merged(ranges)) for ranges in found.values()]
        ranges = [each for one in found.values() for each in one]
        return ranges, [size / sum(sizes) for size in sizes]

    def bare(self) -> list[Document]:
        """The documents as plain text: no headings, no title, no parts."""
        return [
            Document(text=each.text, uri=each.uri, media_type="text/plain")
            for each in self.documents.values()
        ]


def numbered(questions: Sequence[Question]) -> list[Question]:
    """The questions, each with an id of its own; those of one alone keep it."""
    used = Counter(each.id for each in questions)
    taken = {name for name, count in used.items() if count == 1}
    made = []
    for i, each in enumerate(questions, 1):
        name = each.id
        if not name or used[name] > 1:
            name = f"{name or 'question'} {i}"
            while name in taken:
                name += "'"
            taken.add(name)
        made.append(replace(each, id=name))
    return made
