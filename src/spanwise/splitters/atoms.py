"""Atoms: a fence or a table that is cut only when it does not fit, and how."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress
from typing import NamedTuple

from spanwise.cutting.caps import Capped
from spanwise.cutting.levels import Level
from spanwise.cutting.markdown import Structure
from spanwise.cutting.outline import after_lines
from spanwise.cutting.pack import Packer
from spanwise.cutting.spans import end_at, first_ink, start_at

__all__ = ["Atom", "atoms_of", "refine_atom"]

# What stands between context and text, and between the parts of a context.
_JOINERS = 3

# Rows get at least this share of the cap; else their part goes without header.
_LEAST_SHARE = 4


class Atom(NamedTuple):
    """A fence or a table: ``[start, end)`` in code points."""

    start: int
    end: int
    kind: str


def atoms_of(text: str, structure: Structure) -> tuple[list[int], list[int], list[str]]:
    """The starts, ends and kinds of the fences and tables, in order, each up to its last ink."""
    starts, ends, kinds = structure.atom_starts, structure.atom_ends, structure.atom_kinds
    kept = [kind != "html" for kind in kinds]
    starts, ends = [*compress(starts, kept)], [*compress(ends, kept)]
    # Most end with a fence or a bar: no white space to step over.
    ends = [
        end if "!" <= text[end - 1] <= "~" else end_at(text, start, end)
        for start, end in zip(starts, ends, strict=True)
    ]
    return starts, ends, [*compress(kinds, kept)]


def refine_atom(
    packer: Packer, atom: Atom, start: int, levels: Sequence[Level], boundary: str
) -> None:
    """Cut an atom that does not fit at its lines; ``start`` may be a heading before it.

    ``levels`` begin with blank lines and lines. The opening line of a fence and
    the header of a table keep company with what follows, the closing line with
    what precedes.
    """
    if atom.kind == "table":
        _cut_table(packer, atom, start, levels[1:], boundary)
        return
    text = packer.text
    head = first_ink(text, after_lines(text, atom.start, 1), atom.end)
    if start < atom.start and not packer.fits(start, end_at(text, start, head)):
        head = atom.start  # the opening line does not fit with the heading
    closing = max(text.rfind("\n", atom.start, atom.end), text.rfind("\r", atom.start, atom.end))
    mark = text[closing + 1 : atom.end].strip()[:3]
    closed = closing > atom.start and mark in ("```", "~~~")
    tail = end_at(text, atom.start, max(atom.start, closing)) if closed else atom.end + 1
    packer.fill_best(start, atom.end, levels, boundary, (head, tail))


def _cut_table(
    packer: Packer, atom: Atom, start: int, levels: Sequence[Level], boundary: str
) -> None:
    """Cut a table between rows: the header with the first ones, the others after it.

    With a cap the later parts leave room for the header, which is their context; not those with a
    row that would have to be cut for it.
    """
    text, line = packer.text, levels[0]
    packer.rows_kept = 0
    header = after_lines(text, atom.start, 2)
    cut = packer.last(line, start, header, packer.furthest(start, atom.end))
    if cut < 0:
        cut = header
    if packer.allows(start, end_at(text, start, cut)) and packer.fits(
        atom.start, end_at(text, atom.start, header)
    ):
        packer.add(start, end_at(text, start, cut), boundary)
    else:
        head = atom.start if start < atom.start else 0
        packer.fill_best(start, cut, levels, boundary, (head, cut + 1))
    capped = packer.capped
    first = len(packer)
    if capped is None:
        packer.fill_best(cut, atom.end, levels, "row", (0, atom.end + 1))
    else:
        kept = capped.cap.size(atom.start, header) + _JOINERS
        if capped.most - kept >= capped.most // _LEAST_SHARE:
            packer.rows_kept = kept
        before = capped.kept
        for lo, hi, wide in _rows_alike(text, capped, line, cut, atom.end, packer.rows_kept):
            capped.leave(before if wide else max(before, packer.rows_kept))
            packer.fill_best(lo, hi, levels, "row", (0, hi + 1))
        capped.kept = before
    packer.boundaries[first:] = [
        "row" if name == line.name else name for name in packer.boundaries[first:]
    ]


def _rows_alike(
    text: str, capped: Capped, line: Level, lo: int, hi: int, kept: int
) -> Iterator[tuple[int, int, bool]]:
    """Rows in runs: those that fit the cap beside what is kept, and those that fit it alone."""
    run = at = start_at(text, lo, hi)
    was_wide = False
    while at < hi:
        stop = line.first(text, at + 1, hi)
        end = end_at(text, at, stop)
        holds = capped.cap.holds
        wide = not holds(at, end, capped.most - kept) and holds(at, end, capped.most)
        if wide != was_wide and run < at:
            yield run, at, was_wide
            run = at
        was_wide = wide
        at = start_at(text, stop, hi)
    if run < hi:
        yield run, hi, was_wide
