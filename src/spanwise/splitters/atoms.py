"""Atoms: a fence or a table that is cut only when it does not fit, and how."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from spanwise.cutting.levels import Level
from spanwise.cutting.markdown import Structure
from spanwise.cutting.pack import Packer
from spanwise.cutting.spans import end_at, first_ink
from spanwise.documents import after_lines

__all__ = ["Atom", "atoms_of", "refine_atom"]


class Atom(NamedTuple):
    """A fence or a table: ``[start, end)`` in code points."""

    start: int
    end: int
    kind: str


def atoms_of(structure: Structure) -> list[Atom]:
    """The fences and tables of a text, in order."""
    found = zip(structure.atom_starts, structure.atom_ends, structure.atom_kinds, strict=True)
    return [Atom(start, end, kind) for start, end, kind in found if kind != "html"]


def refine_atom(
    packer: Packer, atom: Atom, start: int, levels: Sequence[Level], boundary: str
) -> None:
    """Cut an atom that does not fit at its lines; ``start`` may be a heading before it.

    The opening line of a fence and the header of a table keep company with
    what follows, the closing line with what precedes.
    """
    text = packer.text
    opening = 2 if atom.kind == "table" else 1
    head = first_ink(text, after_lines(text, atom.start, opening), atom.end)
    tail = atom.end + 1
    if atom.kind == "fence":
        closing = max(
            text.rfind("\n", atom.start, atom.end), text.rfind("\r", atom.start, atom.end)
        )
        tail = end_at(text, atom.start, max(atom.start, closing))
    packer.fill_best(start, atom.end, levels, boundary, (head, tail))
