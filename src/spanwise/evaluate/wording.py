"""An evaluation as a person reads it: a table, and sentences that say what it shows."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from spanwise.evaluate.comparing import LEAST_QUESTIONS, Difference

__all__ = ["sentences", "table"]

# Longer names are shortened, so that all columns stand beside each other in 100 characters.
_LONGEST_NAME = 20
_GAP = 2

# Groups are shown beside each other where there are not more.
_MOST_GROUPS = 6

# A difference that nobody would act on.
_NOTHING = 0.001

# With so much found, there is little left to differ by.
_NEARLY_ALL = 0.95

_MODES = {"words": "words", "meaning": "meaning", "both": "words and meaning"}

_LEGEND = """Recall: the share of the evidence in the first 1,000, 2,000, 4,000 and 8,000
characters found, the mean of the four; it ranks. A star: the difference to the first
is real (95 %, each by itself). R@5, P@5, IoU@5: recall, precision, intersection over
union of the first five passages; larger passages raise the first and lower the
others. Whole: evidence that lies in one passage. Size: the mean, in characters.
Index: characters indexed for each of the documents."""


class _Row(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def mode(self) -> str: ...
    @property
    def chunks(self) -> int: ...
    @property
    def mean_size(self) -> float: ...
    @property
    def indexed(self) -> float: ...
    @property
    def whole(self) -> float: ...
    @property
    def means(self) -> dict[str, float]: ...


class _Whole(Protocol):
    @property
    def rows(self) -> Sequence[_Row]: ...
    @property
    def questions(self) -> Sequence[object]: ...
    @property
    def groups(self) -> dict[str, int]: ...
    @property
    def documents(self) -> int: ...
    @property
    def characters(self) -> int: ...
    @property
    def notes(self) -> Sequence[str]: ...
    @property
    def verdict(self) -> Sequence[str]: ...


def table(
    whole: _Whole,
    differences: Mapping[str, Difference],
    groups: Mapping[str, Mapping[str, float]],
    width: int,
) -> str:
    """The whole as text, no line longer than ``width``: columns that do not fit come below."""
    called = _short([row.name for row in whole.rows])
    parts = [
        _folded([_head(whole)], width),
        _columns(_cells(whole.rows, called, differences), width),
    ]
    kinds = _short([*whole.groups])
    if 1 < len(kinds) <= _MOST_GROUPS:
        rows = [["Recall by group", *(kinds[name] or "(none)" for name in kinds)]]
        rows += [
            [called[row.name], *(f"{groups[row.name][name]:.3f}" for name in kinds)]
            for row in whole.rows
        ]
        parts.append(_columns(rows, width))
    said = ([" ".join(_LEGEND.split())], whole.notes, whole.verdict)
    parts += [_folded(lines, width) for lines in said]
    return "\n\n".join(filter(None, parts))


def _head(whole: _Whole) -> str:
    counts = [(name, count) for name, count in whole.groups.items() if name]
    of = f" ({', '.join(f'{count:,} {name}' for name, count in counts)})"
    modes = dict.fromkeys(_MODES.get(row.mode, row.mode) for row in whole.rows)
    return (
        f"{_counted(len(whole.questions), 'question')}"
        f"{of if 0 < len(counts) <= _MOST_GROUPS else ''} on "
        f"{_counted(whole.documents, 'document')} of {whole.characters:,} characters, "
        f"searched by {' or '.join(modes)}"
    )


def _cells(
    rows: Iterable[_Row], called: Mapping[str, str], differences: Mapping[str, Difference]
) -> list[list[str]]:
    titles = "Setup|Recall|to best|R@5|P@5|IoU@5|Hit@5|nDCG@10|Whole|Chunks|Size|Index"
    cells = [titles.split("|")]
    for row in rows:
        means = row.means
        against = differences.get(row.name)
        cells.append(
            [
                called[row.name],
                f"{means['mean_recall']:.3f}",
                f"{against.mean:+.3f}{'*' if against.is_real else ' '}" if against else "",
                *(f"{means[name]:.2f}" for name in ("recall_5", "precision_5", "iou_5")),
                *(f"{means[name]:.2f}" for name in ("hit_5", "ndcg_10")),
                f"{row.whole:.2f}",
                f"{row.chunks:,}",
                f"{row.mean_size:,.0f}",
                f"{row.indexed:.2f}",
            ]
        )
    return cells


def _columns(cells: Sequence[Sequence[str]], width: int) -> str:
    """Cells in columns: as many beside the first as fit, the others below, beside it again."""
    first, *others = zip(*cells, strict=True)
    blocks = [[first]]
    for column in others:
        sizes = [max(map(len, each)) for each in (*blocks[-1], column)]
        if len(sizes) > 2 and sum(sizes) + _GAP * (len(sizes) - 1) > width:
            blocks.append([first])
        blocks[-1].append(column)
    return "\n\n".join(map(_lines, blocks))


def _lines(columns: Sequence[Sequence[str]]) -> str:
    """Columns beside each other, the first to the left and the others to the right."""
    widths = [max(map(len, column)) for column in columns]
    lines = []
    for row in zip(*columns, strict=True):
        numbers = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
        lines.append((" " * _GAP).join([row[0].ljust(widths[0]), *numbers]).rstrip())
    return "\n".join(lines)


def _short(names: Iterable[str]) -> dict[str, str]:
    """Names in few characters, no two alike: the middle of a long one is left out."""
    made: dict[str, str] = {}
    for name in names:
        short = " ".join(name.split())
        if len(short) > _LONGEST_NAME:
            end = (_LONGEST_NAME - 1) // 2
            short = f"{short[: _LONGEST_NAME - 1 - end]}…{short[-end:]}"
        number, base = 1, short
        while short in made.values():
            number += 1
            sign = f" ({number})"
            short = base[: _LONGEST_NAME - len(sign)] + sign
        made[name] = short
    return made


def _folded(lines: Iterable[str], width: int) -> str:
    return "\n".join(
        textwrap.fill(line, width, break_long_words=True, break_on_hyphens=False) for line in lines
    )


def sentences(rows: Sequence[_Row], against: Sequence[Difference], questions: int) -> Iterator[str]:
    """What the differences of the best to the others show, and what to use.

    ``against``: the best minus each other row.
    """
    best = rows[0]
    level: list[_Row] = []
    for row, found in zip(rows[1:], against, strict=True):
        if found.is_real:
            yield f"{best.name} is better than {row.name} by {found}."
            continue
        level.append(row)
        if questions < LEAST_QUESTIONS:
            yield (
                f"{best.name} differs from {row.name} by {found}: "
                f"{_counted(questions, 'question')} cannot tell whether that is chance; ask "
                f"{LEAST_QUESTIONS} or more."
            )
        elif found.reach < _NOTHING:
            yield f"{best.name} and {row.name} are equal to within {_NOTHING}."
        else:
            yield (
                f"Between {best.name} and {row.name} no difference is shown ({found}): "
                f"{questions:,} questions are too few to tell less than about {found.reach:.3f}."
            )
    if best.means["mean_recall"] > _NEARLY_ALL:
        yield "Nearly all of the evidence is found: harder questions would tell more."
    if not against:
        yield f"Only {best.name} was measured; give a second setup to compare it with."
    elif not level:
        yield f"Use {best.name}: it is better than every other one here."
    else:
        names = ", ".join(row.name for row in level)
        smallest = min([best, *level], key=lambda row: row.indexed)
        saves = best.indexed - smallest.indexed
        yield (
            f"Use {best.name}; {names} may be as good, which more questions could tell."
            + (
                f" {smallest.name} indexes the least of them, {smallest.indexed:.2f} characters "
                f"for each of the documents against {best.indexed:.2f}."
                if saves >= 0.01
                else ""
            )
        )


def _counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}" + ("" if number == 1 else "s")
