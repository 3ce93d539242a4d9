"""EQUIV: whatever happens to a folder, its index equals one that is made anew.

A machine does to a real folder and a real index file what people do, keeps a plain model of what
was last loaded, and compares everything with a fresh build after each step.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch
from zipfile import ZipFile, ZipInfo

import pytest
from hypothesis import assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from store.corpus import Counting, Known, assert_equal, damage, fresh, told

from spanwise import Document, LoadError, StoreError, by_paragraph, find_documents, load
from spanwise.index import Index, IndexReport
from spanwise.splitters.capped import within
from spanwise.splitters.presets import for_search

# A document of bare headings has no passage, and says so.
pytestmark = pytest.mark.filterwarnings("ignore::spanwise.EmptyDocumentWarning")

DEEP = bool(os.environ.get("SPANWISE_DEEP"))

FOLDERS = ("docs", "docs/sub", "docs/sub/deep", "more")
NAMES = ("a.md", "b.md", "c.txt", "d.html")
FILES = (
    *(f"{folder}/{name}" for folder in FOLDERS for name in NAMES),
    *("docs/e.docx", "docs/Ünder strich.md", "more/e.docx"),
)
NAMESPACES = ("", "team", "東京")
SENTENCES = (
    "Refunds are paid within ten days.",
    "A refund of the late fee needs a form.",
    "The café pays Zoë twice.",
    "東京都の返金は十日です。",
    "Pay the late fee at once!",
    "Payment by card is refunded by card, and payment in cash is refunded in cash or not at all.",
    "x",
    "Ünder the crème.",
    "Nothing else matters here\u0301.",
)
INCLUDES: tuple[tuple[str, ...], ...] = ((), (), (), ("*.md",), ("*.md", "*.html", "sub/**"))
EXCLUDES: tuple[tuple[str, ...], ...] = ((), (), (), ("sub",), ("a.*",))
ENCODINGS = ("", "", "", "ascii", "latin-1")
METADATA: tuple[dict[str, Any], ...] = ({}, {}, {"team": "a"}, {"team": ["a", "b"], "n": 1.0})
IGNORES = ("", "sub\n", "*.txt\n!c.txt\n", "a.md\n", "*\n")
SPLITTERS = (for_search(chunk_size=120), for_search(chunk_size=60), by_paragraph(chunk_size=70))
EMBEDDERS = (None, ("one", 16), ("one", 16), ("two", 16), ("one", 24))
BROKEN = {".docx": b"PK\x03\x04 broken", ".html": b"\xff\xfe\0", ".md": b"caf\xe9 \xff\xfe\0"}

sentences = st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=3).map(" ".join)
headings = st.sampled_from(["# Terms", "## Late fees", "# 東京", "### Deep"])
texts = st.lists(sentences | headings, max_size=6).map("\n\n".join)
# Any code point, lone surrogates too, and what parts words, blocks and lines.
hostile = st.text(
    st.characters(exclude_categories=())
    | st.sampled_from("ab 東é\0\r\n\f#`-\u0301\ufeff\u200d\ud83d"),
    max_size=60,
)
files = st.sampled_from(FILES)
folders = st.sampled_from(("docs", "docs", "docs/sub", "more", "."))
namespaces = st.sampled_from(("", "", "", *NAMESPACES))

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def encoded(name: str, text: str) -> bytes:
    """The bytes of a file of a kind that say a text."""
    paragraphs = text.split("\n\n") if text else []
    if name.endswith(".html"):
        made = [
            f"<h{len(each.split(' ')[0])}>{each.lstrip('# ')}</h{len(each.split(' ')[0])}>"
            if each.startswith("#")
            else f"<p>{each}</p>"
            for each in paragraphs
        ]
        return f"<!doctype html><meta charset=utf-8><body>{''.join(made)}".encode()
    if name.endswith(".docx"):
        body = "".join(f"<w:p><w:r><w:t>{each}</w:t></w:r></w:p>" for each in paragraphs)
        out = BytesIO()
        with ZipFile(out, "w") as archive:
            archive.writestr(
                ZipInfo("[Content_Types].xml"),
                '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
            )
            archive.writestr(
                ZipInfo("word/document.xml"),
                f'<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>',
            )
        return out.getvalue()
    return text.encode()


class Machine(RuleBasedStateMachine):
    """A folder, its index and a model of what the index should hold."""

    def __init__(self) -> None:
        super().__init__()
        self.base = Path(tempfile.mkdtemp(prefix="spanwise-equiv-"))
        for folder in FOLDERS:
            (self.base / folder).mkdir(parents=True)
        self.path = self.base / "index.db"
        self.texts: dict[str, str] = {}
        self.docs: dict[str, dict[str, Known]] = {name: {} for name in NAMESPACES}
        self.held: dict[str, set[str]] = {}
        self.hidden: set[str] = set()
        self.secret: set[str] = set()
        self.numbers = count()
        self.recorded: Any = None
        self.made: Any = None
        self.index: Index | None = None
        self.reader: Index | None = None

    # --- the index ---------------------------------------------------------------------------

    @initialize(splitter=st.sampled_from(SPLITTERS), embedder=st.sampled_from(EMBEDDERS[1:]))
    def begin(self, splitter: Any, embedder: Any) -> None:
        self.options = (splitter, embedder, True)
        self.open()

    def open(self, *, rebuild: bool = False) -> None:
        splitter, embedder, stems = self.options
        if self.index is not None:
            self.index.close()
        self.counter = Counting(*embedder) if embedder else Counting()
        self.index = Index.open(
            self.path,
            splitter=splitter,
            embedder=self.counter.embedder if embedder else "none",
            stems=stems,
            rebuild=rebuild,
            batch_size=4,
            attempts=1,
        )
        if self.reader is None:
            self.reader = Index.open(self.path, read_only=True)

    def teardown(self) -> None:
        for each in (self.index, self.reader):
            if each is not None:
                each.close()
        shutil.rmtree(self.base)

    @property
    def space(self) -> str:
        embedder = self.options[1]
        return f"{embedder[0]}@{embedder[1]}" if embedder else ""

    @property
    def capped(self) -> Any:
        splitter, embedder, _ = self.options
        return within(splitter, self.counter.embedder) if embedder else splitter

    @property
    def recipe(self) -> Any:
        """Splitter, embedder, and how often they were changed: what was left then is cut anew."""
        base, made = (self.capped.fingerprint, self.space), 0
        if self.recorded:
            made = self.recorded[2] + (base != self.recorded[:2])
        return (*base, made)

    def known(self, document: Any, known: Known | None, owner: Any) -> Known:
        """What the model knows of a document that was loaded now."""
        return Known(
            document=document,
            changes=known.changes if known else {},
            owner=owner,
            recipe=self.recipe,
            strings=frozenset(each.embed_text for each in self.capped.split(document)),
        )

    def recut(self, known: Known) -> Known:
        return self.known(known.document, known, known.owner)

    def used(self) -> set[str]:
        return {s for docs in self.docs.values() for known in docs.values() for s in known.strings}

    def trim(self, space: str) -> None:
        """Vectors of other spaces and those of no passage are dropped."""
        self.held = {space: self.held.get(space, set()) & self.used()} if space else {}

    # --- files -------------------------------------------------------------------------------

    def put(self, name: str, text: str) -> None:
        self.texts[name] = text
        (self.base / name).write_bytes(encoded(name, text))

    def named(self, data: st.DataObject) -> str:
        there = sorted(name for name in self.texts if (self.base / name).exists())
        assume(there)
        return data.draw(st.sampled_from(there))

    @rule(name=files, text=texts)
    def write_file(self, name: str, text: str) -> None:
        self.put(name, text)

    @rule(text=texts, names=st.lists(files, min_size=2, max_size=6, unique=True), own=st.booleans())
    def write_many(self, text: str, names: list[str], own: bool) -> None:
        for name in names:
            self.put(name, text + (f"\n\nFile {next(self.numbers)} is new." if own else ""))

    @rule(data=st.data(), sentence=sentences)
    def edit_a_sentence(self, data: st.DataObject, sentence: str) -> None:
        name = self.named(data)
        parts = self.texts[name].split("\n\n")
        parts[data.draw(st.integers(0, len(parts) - 1))] = sentence
        self.put(name, "\n\n".join(parts))

    @rule(data=st.data(), paragraph=sentences | headings)
    def add_at_the_top(self, data: st.DataObject, paragraph: str) -> None:
        name = self.named(data)
        self.put(name, f"{paragraph}\n\n{self.texts[name]}")

    @rule(data=st.data())
    def another_level(self, data: st.DataObject) -> None:
        name = self.named(data)
        self.put(name, self.texts[name].replace("## ", "# ").replace("# ", "## "))

    @rule(data=st.data())
    def shrink(self, data: st.DataObject) -> None:
        name = self.named(data)
        parts = self.texts[name].split("\n\n")
        self.put(name, "\n\n".join(parts[: len(parts) // 2]))

    @rule(data=st.data())
    def same_size_and_time(self, data: st.DataObject) -> None:
        name = self.named(data)
        path = self.base / name
        state = path.stat()
        text = self.texts[name]
        assume(path.read_bytes() == encoded(name, text))
        letters = str.maketrans("eaoi", "aeio")
        self.put(name, text.translate(letters))
        assert path.stat().st_size == state.st_size
        os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))

    @rule(data=st.data())
    def touch(self, data: st.DataObject) -> None:
        os.utime(self.base / self.named(data))

    @rule(data=st.data())
    def break_file(self, data: st.DataObject) -> None:
        name = self.named(data)
        (self.base / name).write_bytes(BROKEN.get(Path(name).suffix, b"\xff\xff\0"))

    @rule(data=st.data(), onto=files)
    def move(self, data: st.DataObject, onto: str) -> None:
        name = self.named(data)
        assume(Path(name).suffix == Path(onto).suffix)
        (self.base / name).rename(self.base / onto)
        self.texts[onto] = self.texts.pop(name) if onto != name else self.texts[name]

    @rule(data=st.data())
    def swap(self, data: st.DataObject) -> None:
        one, other = self.named(data), self.named(data)
        assume(one != other)
        beside = self.base / "beside"
        (self.base / one).rename(beside)
        (self.base / other).rename(self.base / one)
        beside.rename(self.base / other)
        self.texts[one], self.texts[other] = self.texts[other], self.texts[one]

    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        name = self.named(data)
        (self.base / name).unlink()
        del self.texts[name]

    @rule(folder=st.sampled_from(FOLDERS), text=st.sampled_from(IGNORES))
    def ignore(self, folder: str, text: str) -> None:
        path = self.base / folder / ".gitignore"
        path.unlink(missing_ok=True)
        if text:
            path.write_text(text)

    @rule(folder=st.sampled_from(FOLDERS[1:3]))
    def hide_or_show(self, folder: str) -> None:
        self.hidden ^= {str(self.base / folder)}

    @rule(data=st.data())
    def lock_or_unlock(self, data: st.DataObject) -> None:
        self.secret ^= {str(self.base / self.named(data))}

    @rule()
    def wait(self) -> None:
        time.sleep(0.03)

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """What a person who is not root meets: folders and files that cannot be read."""
        scandir, opened = os.scandir, Path.open

        def list_folder(path: Any = ".") -> Any:
            if str(path) in self.hidden:
                raise PermissionError(13, "Permission denied")
            return scandir(path)

        def open_file(path: Path, *args: Any, **kwargs: Any) -> Any:
            if str(path) in self.secret:
                raise PermissionError(13, "Permission denied")
            return opened(path, *args, **kwargs)

        with (
            patch("os.scandir", list_folder),
            patch.object(Path, "open", open_file),
            patch("spanwise.index.files._TOO_NEW_NS", 20_000_000),
        ):
            yield

    # --- runs --------------------------------------------------------------------------------

    @rule(
        folder=folders,
        include=st.sampled_from(INCLUDES),
        exclude=st.sampled_from(EXCLUDES),
        encoding=st.sampled_from(ENCODINGS),
        metadata=st.sampled_from(METADATA),
        namespace=namespaces,
        recursive=st.sampled_from((True, True, False)),
        ignore_files=st.sampled_from((True, True, False)),
        remove_missing=st.sampled_from((True, True, True, False)),
        reload=st.sampled_from((False, False, False, True)),
        failing=st.sampled_from((None, None, None, None, "late", "Zoë", (1,), (2, 3))),
        dry=st.booleans(),
    )
    def run_folder(self, **options: Any) -> None:
        self.run(**options)

    @rule(folder=folders, namespace=namespaces, dry=st.booleans())
    def run_plainly(self, folder: str, namespace: str, dry: bool) -> None:
        self.run(folder, namespace, dry)

    def run(
        self,
        folder: str,
        namespace: str = "",
        dry: bool = False,
        include: tuple[str, ...] = (),
        exclude: tuple[str, ...] = (),
        encoding: str = "",
        metadata: dict[str, Any] | None = None,
        recursive: bool = True,
        ignore_files: bool = True,
        remove_missing: bool = True,
        reload: bool = False,
        failing: Any = None,
    ) -> None:
        assert self.index is not None
        selecting = {
            "include": include,
            "exclude": exclude,
            "recursive": recursive,
            "ignore_files": ignore_files,
        }
        options = {
            **selecting,
            "encoding": encoding,
            "metadata": metadata,
            "namespace": namespace,
            "remove_missing": remove_missing,
            "reload": reload,
        }
        root = self.base / folder
        with self.refusing():
            foretold = self.index.add_folder(root, **options, dry_run=True) if dry else None
            self.counter.begin()
            if isinstance(failing, str):
                self.counter.poison = failing
            elif failing:
                self.counter.failing = frozenset(failing)
            report = self.index.add_folder(root, **options)
            self.counter.poison, self.counter.failing = "", frozenset()
            self.expect(root, selecting, encoding, metadata or {}, namespace, options, report)
        if foretold is not None and not report.failed:
            told_of = replace(foretold, seconds=0, dry_run=False)
            assert told_of == replace(report, seconds=0)

    def expect(
        self,
        root: Path,
        selecting: dict[str, Any],
        encoding: str,
        metadata: dict[str, Any],
        namespace: str,
        options: dict[str, Any],
        report: IndexReport,
    ) -> None:
        """What a run should have done, done to the model, and the report compared with it."""
        faults: list[LoadError] = []
        paths = find_documents(root, **selecting, on_error=faults.append)
        owner = (root, *selecting.values())
        docs = self.docs[namespace]
        before = dict(docs)
        failed, asked_for = set(), set()
        unembedded = {each.uri for each in report.failed if "embedding failed" in each.reason}
        names = {path.relative_to(self.base).as_posix(): path for path in paths}
        for uri, path in names.items():
            known = docs.get(uri)
            try:
                document = load(path, uri=uri, encoding=encoding)
            except LoadError:
                failed.add(uri)
                continue
            document = replace(document, meta={**document.meta, **metadata})
            made = self.known(document, known, owner)
            asked_for |= made.strings
            if uri not in unembedded:
                docs[uri] = made
        removed = set()
        if options["remove_missing"] and paths:
            for uri, known in before.items():
                path = self.base / uri
                if uri in names or known.owner is None or root not in path.parents:
                    continue
                if not path.exists() or (known.owner == owner and not faults):
                    removed.add(uri)
        for uri in removed:
            del docs[uri]
        for uri, known in docs.items():
            if known.recipe != self.recipe:
                made = self.recut(known)
                asked_for |= made.strings
                if uri not in unembedded:
                    docs[uri] = made
        assert report.discovered == len(names)
        assert set(report.removed) == removed
        assert {each.uri for each in report.failed} - unembedded - {
            root.relative_to(self.base).as_posix()
        } == failed
        assert len(faults) == sum(
            each.uri == root.relative_to(self.base).as_posix() for each in report.failed
        )
        assert all(
            each.stale == (each.uri in before) for each in report.failed if each.uri in names
        )
        self.expect_embedded(asked_for, report)
        fine = set(names) - failed - unembedded
        assert report.added == len(fine - set(before))
        self.recorded, self.made = self.recipe, self.options

    def expect_embedded(self, asked_for: set[str], report: IndexReport) -> None:
        """Exactly the strings that the space never saw were embedded."""
        held = self.held.get(self.space, set()) if self.space else set()
        # A plain word is what an embedder is asked after many failures.
        done = [each for each in self.counter.embedded if each != "text"]
        assert len(done) == len(set(done))
        assert not held & set(done)
        assert set(done) <= asked_for
        lost = any("embedding failed" in each.reason for each in report.failed)
        if self.space:
            if not lost:
                assert set(done) == asked_for - held
            assert report.embedded == len(done)
            self.held[self.space] = held | set(done)
        else:
            assert not done
        if not lost:
            self.trim(self.space)

    @rule(
        data=st.data(),
        texts=st.lists(texts | hostile, min_size=1, max_size=3),
        namespace=namespaces,
        metadata=st.sampled_from(METADATA),
    )
    def give(
        self, data: st.DataObject, texts: list[str], namespace: str, metadata: dict[str, Any]
    ) -> None:
        """Documents that no folder holds, some in the place of those of files, some twice."""
        assert self.index is not None
        uris = [data.draw(files | st.just("given")) for _ in texts]
        given = [
            Document(text=text, uri=uri, media_type="text/markdown")
            for text, uri in zip(texts, uris, strict=True)
        ]
        docs = self.docs[namespace]
        self.counter.begin()
        report = self.index.add(given, metadata=metadata, namespace=namespace)
        assert not report.failed
        asked_for = set()
        for document in given:
            laid = replace(document, meta=metadata)
            docs[document.uri] = self.known(laid, docs.get(document.uri), None)
            asked_for |= docs[document.uri].strings
        self.recorded, self.made = self.recipe, self.options
        self.expect_embedded(asked_for, report)

    # --- other changes -----------------------------------------------------------------------

    def one(self, data: st.DataObject) -> tuple[str, str]:
        there = [(name, uri) for name, docs in self.docs.items() for uri in sorted(docs)]
        assume(there)
        return data.draw(st.sampled_from(there))

    @rule(
        data=st.data(),
        changes=st.sampled_from(
            ({"team": "x"}, {"team": None}, {"encoding": None}, {"n": [1, 2]}, {"zzz": None})
        ),
    )
    def change_metadata(self, data: st.DataObject, changes: dict[str, Any]) -> None:
        assert self.index is not None
        namespace, uri = self.one(data)
        known = self.docs[namespace][uri]
        kept = {**known.changes, **changes}
        kept = {k: v for k, v in kept.items() if v is not None or k in known.document.meta}
        self.docs[namespace][uri] = replace(known, changes=kept)
        said = self.index.update_metadata(uri, changes, namespace=namespace)
        laid = {**known.document.meta, **kept}
        assert said == {key: value for key, value in laid.items() if value is not None}

    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        assert self.index is not None
        namespace, uri = self.one(data)
        assert self.index.remove([uri, "no/such.md"], namespace=namespace) == (uri,)
        del self.docs[namespace][uri]
        self.trim(self.recorded[1])

    @rule(namespace=namespaces, value=st.sampled_from(("a", "b", "x")))
    def remove_where(self, namespace: str, value: str) -> None:
        assert self.index is not None
        wanted = set()
        for uri, known in self.docs[namespace].items():
            laid = {**known.document.meta, **known.changes}.get("team")
            if value in (laid if isinstance(laid, list) else [laid]):
                wanted.add(uri)
        assert set(self.index.remove_where({"team": value}, namespace=namespace)) == wanted
        for uri in wanted:
            del self.docs[namespace][uri]
        if self.recorded:
            self.trim(self.recorded[1])

    @rule()
    def vacuum(self) -> None:
        assert self.index is not None
        self.index.vacuum()
        if self.recorded:
            self.trim(self.recorded[1])

    @rule()
    def reopen(self) -> None:
        assert self.index is not None
        self.open(rebuild=self.made != self.options)

    @rule(
        splitter=st.sampled_from(SPLITTERS),
        embedder=st.sampled_from(EMBEDDERS),
        stems=st.booleans(),
        at_once=st.booleans(),
    )
    def other_options(self, splitter: Any, embedder: Any, stems: bool, at_once: bool) -> None:
        self.options = (splitter, embedder, stems)
        if self.reader is not None:
            self.reader.close()
            self.reader = None
        self.open(rebuild=True)
        if at_once:
            self.rebuild()

    @rule()
    def rebuild(self) -> None:
        assert self.index is not None
        self.counter.begin()
        report = self.index.rebuild()
        before = self.held.get(self.space, set()) if self.space else set()
        for docs in self.docs.values():
            for uri, known in docs.items():
                if known.recipe != self.recipe:
                    docs[uri] = self.recut(known)
        assert not report.failed
        self.recorded, self.made = self.recipe, self.options
        if self.space:
            # A vector that a later namespace needs may be dropped at the end of an earlier one.
            assert set(self.counter.embedded) == self.used() - before
            self.held[self.space] = before | set(self.counter.embedded)
        self.trim(self.space)
        if self.reader is not None:
            self.reader.close()
        self.reader = Index.open(self.path, read_only=True)

    @precondition(lambda self: self.current)
    @rule(namespace=namespaces, onto=namespaces)
    def bundle(self, namespace: str, onto: str) -> None:
        """Out of a namespace and into another, or into an index of its own and back."""
        assert self.index is not None
        docs = self.docs[namespace]
        path = self.base / "all.bundle"
        if not docs:
            with pytest.raises(StoreError, match="holds no documents"):
                self.index.export_bundle(path, namespace=namespace)
            return
        self.counter.begin()
        assert self.index.export_bundle(path, namespace=namespace) == len(docs)
        assert self.index.import_bundle(path, namespace=onto) == len(docs)
        assert not self.counter.embedded
        self.docs[onto].update(docs)
        splitter, _, _ = self.options
        embedder = self.counter.embedder if self.space else "none"
        other = Index.open(":memory:", splitter=splitter, embedder=embedder)
        other.import_bundle(path, namespace="other")
        assert told(other, "other") == told(self.index, namespace)
        other.close()
        path.unlink()

    # --- what holds --------------------------------------------------------------------------

    @property
    def current(self) -> bool:
        """Whether the options are those of every document."""
        return self.made == self.options and all(
            known.recipe == self.recipe for docs in self.docs.values() for known in docs.values()
        )

    @invariant()
    def equals_a_fresh_build(self) -> None:
        if self.index is None:
            return
        assert not damage(self.index)
        for namespace, docs in self.docs.items():
            stored = self.index.documents(namespace=namespace)
            assert [each.uri for each in stored] == sorted(docs, key=lambda uri: uri.encode())
            for each in stored:
                assert each.metadata == {
                    key: value
                    for key, value in {
                        **docs[each.uri].document.meta,
                        **docs[each.uri].changes,
                    }.items()
                    if value is not None
                }
        if not self.current:
            return
        splitter, embedder, stems = self.options
        other = fresh(
            self.docs,
            splitter=splitter,
            embedder=Counting(*embedder).embedder if embedder else None,
            stems=stems,
        )
        assert_equal(self.index, other, NAMESPACES)
        if self.reader is not None:
            self.reader.search("refund", mode="words")
            for namespace in NAMESPACES:
                assert told(self.reader, namespace) == told(other, namespace)
        other.close()


Machine.TestCase.settings = settings(
    max_examples=int(os.environ.get("SPANWISE_EXAMPLES", "5000" if DEEP else "12")),
    stateful_step_count=40 if DEEP else 25,
    deadline=None,
    derandomize=not DEEP,
    database=None,
)
test_machine = Machine.TestCase
