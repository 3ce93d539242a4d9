"""What a run did, what an index holds and where it differs, as a person reads it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.text import Text

from spanwise.cli.edge import as_typed, counted
from spanwise.cli.screen import NARROWEST, Column, Rows, Screen, one_line, wrap
from spanwise.index import IndexReport, StoredDocument, VerifyReport

__all__ = ["change_line", "changes_of", "difference_rows", "document_rows", "report_rows"]

# Columns of the number and of what it counts.
_NUMBER, _THING, _GAP = 9, 9, 2

# So many removed documents are named; JSON names all.
_MOST_NAMED = 8

# What of a splitter's fingerprint says nothing to a person, or what the embedder says.
_UNSAID = re.compile(r" limit=cap\(.*\)$| \w+=None|(?<= sizer=)spanwise\.cutting\.sizers\.")

_STYLES = {"added": "green", "changed": "yellow", "cut anew": "yellow", "removed": "red"}


def report_rows(screen: Screen, file: str, report: IndexReport) -> None:
    """The numbers of a run, under the name of the index."""
    title = Text(one_line(file), style="bold")
    if report.dry_run:
        title.append("  a dry run, nothing is written", style="not bold yellow")
    screen.out.print(title, soft_wrap=True)
    _row(screen, report.discovered, "documents", _changes(report))
    if report.removed:
        _row(screen, len(report.removed), "removed", Text(_some(report.removed)), "red")
    if report.chunks:
        _row(screen, report.chunks, "passages", _passages(report))
    if report.failed:
        stale = f", {len(report.stale):,} of them kept as they were" if report.stale else ""
        _row(screen, len(report.failed), "failed", Text(f"listed below{stale}"), "red")
    cut = f"cut by {_UNSAID.sub('', report.splitter)}"
    _row(screen, f"{report.seconds:.1f} s", "", Text(one_line(cut), style="dim"), "dim")
    if report.embedder:
        _row(screen, "", "", Text(one_line(f"embedded by {report.embedder}"), style="dim"))


def change_line(report: IndexReport) -> str:
    """What a run changed, on one line."""
    line = ", ".join(f"{number:,} {thing}" for number, thing in changes_of(report))
    if not report.chunks:
        return line
    return f"{line}: {counted(report.chunks, 'passage')}, {_passages(report)}"


def changes_of(report: IndexReport) -> list[tuple[int, str]]:
    """How many documents a run changed in which way; those ways alone that there are."""
    numbers = [
        (report.added, "added"),
        (report.changed, "changed"),
        (report.recut, "cut anew"),
        (len(report.removed), "removed"),
    ]
    return [(number, thing) for number, thing in numbers if number]


def _row(screen: Screen, number: int | str, thing: str, rest: Text, style: str = "") -> None:
    """A number, what it counts, and more about it, which folds under itself."""
    said = number if isinstance(number, str) else f"{number:,}"
    thing = thing[:-1] if number == 1 and thing.endswith("s") else thing
    line = Text(f"{said:>{_NUMBER}} {thing:<{_THING}}" + " " * _GAP, style=style)
    left = line.cell_len
    for part in wrap(screen.out, rest, max(NARROWEST, screen.out.width) - left, 99):
        line.append_text(part)
        line.rstrip()
        screen.out.print(line, soft_wrap=True)
        line = Text(" " * left)


def _changes(report: IndexReport) -> Text:
    line = Text()
    for number, thing in changes_of(report):
        if thing != "removed":
            line.append(", " if line else "")
            line.append(f"{number:,} {thing}", style=_STYLES[thing])
    if report.unchanged:
        whole = report.unchanged == report.discovered and not line
        same = "all unchanged" if whole else f"{report.unchanged:,} unchanged"
        line.append((", " if line else "") + same)
    return line


def _passages(report: IndexReport) -> Text:
    if not report.embedder:
        return Text("words alone")
    would = "to embed" if report.dry_run else "embedded"
    line = Text(f"{report.embedded:,} {would}", style="green" if report.embedded else "")
    return line.append(f", {report.reused:,} reused", style="default not bold")


def _some(names: Sequence[str]) -> str:
    named = [one_line(name) for name in names[:_MOST_NAMED]]
    more = len(names) - len(named)
    return ", ".join(named) + (f" and {more:,} more" if more else "")


def document_rows(screen: Screen, documents: Iterable[StoredDocument]) -> None:
    """A row a document: its name, its passages and characters, its metadata."""
    width = max(NARROWEST, screen.out.width)
    named = min(60, width * 45 // 100)
    rows = Rows(
        screen.out,
        [
            Column("Document", named, lines=3),
            Column("Passages", 8, right=True),
            Column("Characters", 10, right=True),
            Column("Metadata", width - named - 8 - 10 - 3 * _GAP, lines=3),
        ],
    )
    for each in documents:
        rows.add(
            Text(one_line(each.uri)),
            Text(f"{each.chunks:,}"),
            Text(f"{each.characters:,}"),
            Text(_metadata(each.metadata), style="dim"),
        )


def _metadata(metadata: Mapping[str, Any]) -> str:
    """What filters can see, but for an encoding that is as usual."""
    pairs = []
    for key, value in metadata.items():
        many = value if isinstance(value, list) else [value]
        if (key, value) == ("encoding", "utf-8") or any(isinstance(x, list | dict) for x in many):
            continue
        pairs.append(f"{key}={'|'.join(map(_plain, many))}")
    return one_line(", ".join(pairs))


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def difference_rows(screen: Screen, file: str, report: VerifyReport) -> None:
    """What was checked, and a line or more for each difference."""
    found = counted(len(report.differences), "difference") if report.differences else "all is well"
    checked = f"{counted(report.documents, 'document')}, {counted(report.chunks, 'passage')}"
    line = Text(one_line(file), style="bold").append(f"  {checked}, ", style="not bold")
    screen.out.print(line.append(found, style="red" if report.differences else "green"))
    width = max(NARROWEST, screen.out.width)
    kinds = {"damage": "red", "missing": "red", "changed": "yellow", "new": "green"}
    for each in report.differences:
        line = Text(f"  {each.kind:<8} ", style=kinds.get(each.kind, "yellow"))
        rest = Text(one_line(f"{each.uri}: {as_typed(each.what)}" if each.uri else each.what))
        for part in wrap(screen.out, rest, width - 11, 99):
            screen.out.print(line + part, soft_wrap=True)
            line = Text(" " * 11)
