"""verify: whether files, documents, passages, words and vectors are what they should be."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from spanwise.errors import LoadError
from spanwise.index.files import FileState, FolderRun, Selection
from spanwise.index.making import Making
from spanwise.index.reports import Difference, VerifyReport
from spanwise.index.rows import Scope, StoredDocument
from spanwise.index.store import Store

__all__ = ["verify"]


def verify(store: Store, making: Making, base: Path, *, files: bool) -> VerifyReport:
    """Every difference, in order of what it is in."""
    with store.reading():
        found = [Difference("damage", uri, what) for uri, what in store.damage(making.space)]
        stored: list[StoredDocument] = []
        with suppress(ValueError):  # of damaged JSON, which was found
            stored = [each for name in store.namespaces() for each in store.documents(Scope(name))]
    recipe = making.recorded_recipe
    found += [
        Difference("cut", each.uri, "it was cut or embedded by other options; run rebuild")
        for each in stored
        if each.recipe != recipe
    ]
    if files:
        found += _of_files(stored, base)
    return VerifyReport(len(stored), sum(each.chunks for each in stored), tuple(found))


def _of_files(stored: list[StoredDocument], base: Path) -> Iterator[Difference]:
    """Where the files that were indexed from folders are others now."""
    for each in stored:
        if "root" not in each.source:
            continue
        path = base / each.uri
        try:
            state = FileState.of(path).hashed(path)
        except LoadError as fault:
            yield Difference("missing", each.uri, str(fault))
            continue
        if state.sha256 != each.source.get("sha256"):
            yield Difference("changed", each.uri, "its file is not the one that was indexed")
    yield from _new_files(stored, base)


def _new_files(stored: list[StoredDocument], base: Path) -> Iterator[Difference]:
    """The files that the selections of before would find now and that are not indexed."""
    names = {(each.namespace, each.uri) for each in stored}
    selections = {
        (each.namespace, each.source["root"], Selection.from_dict(each.source).key): each
        for each in stored
        if "root" in each.source
    }
    for (namespace, root, _), each in sorted(selections.items()):
        try:
            run = FolderRun(base / root, Selection.from_dict(each.source), base)
        except LoadError as fault:
            yield Difference("missing", root, str(fault))
            continue
        for uri in run.paths:
            if (namespace, uri) not in names:
                names.add((namespace, uri))
                yield Difference("new", uri, "it is not indexed")
