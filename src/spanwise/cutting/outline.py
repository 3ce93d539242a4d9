"""The headings of a text: the path to each, and which one governs a stretch."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from itertools import islice

from spanwise.cutting.markdown import Structure
from spanwise.cutting.spans import end_at, first_ink

__all__ = ["Outline", "after_lines"]

_LINE_END = re.compile(r"\r\n?|\n")


class Outline:
    """The headings of a text and the path that leads to each."""

    __slots__ = ("_header_ends", "_parents", "_paths", "_text", "structure")

    def __init__(self, text: str, structure: Structure) -> None:
        self._text = text
        self.structure = structure
        self._header_ends: dict[int, int] = {}
        self._parents: list[int] | None = None
        self._paths: list[tuple[str, ...]] | None = None

    @property
    def paths(self) -> list[tuple[str, ...]]:
        """For each heading its path, outermost first, itself last; none for one of level 0."""
        if self._paths is None:
            text, found = self._text, self.structure
            paths: list[tuple[str, ...]] = []
            for above, level, start, end in zip(
                self.parents,
                found.heading_levels,
                found.title_starts,
                found.title_ends,
                strict=True,
            ):
                if not level:
                    paths.append(())
                    continue
                title = text[start:end]
                if "\n" in title or "\r" in title:
                    title = " ".join(title.split())
                paths.append(paths[above] + (title,) if above >= 0 else (title,))
            self._paths = paths
        return self._paths

    @property
    def heading_ends(self) -> list[int]:
        """Where the ink of each heading ends."""
        found = self.structure
        return [
            end_at(self._text, start, end)
            for start, end in zip(found.heading_starts, found.heading_ends, strict=True)
        ]

    def heading_at(self, body: int, end: int) -> int:
        """The index of the heading that governs ``[body, end)``, or -1.

        It is the last heading above the first character that is in no heading.
        """
        starts, stops = self.structure.heading_starts, self.structure.heading_ends
        i = bisect_right(starts, body) - 1
        # A heading governs what holds no other one.
        while i >= 0 and body < stops[i] and i + 1 < len(starts) and starts[i + 1] < end:
            body = first_ink(self._text, stops[i], end)
            if body >= end:
                break
            i = bisect_right(starts, body, i) - 1
        return i

    def titles_between(self, start: int, end: int) -> tuple[str, ...]:
        """The titles of the headings that ``[start, end)`` touches."""
        first = bisect_right(self.structure.heading_ends, start)
        last = bisect_left(self.structure.heading_starts, end)
        return tuple(path[-1] for path in self.paths[first:last] if path) if first < last else ()

    def table_header(self, position: int) -> tuple[int, int]:
        """The header and delimiter rows of the table a position lies in, below them.

        ``(position, position)`` when there is none.
        """
        found = self.structure
        i = bisect_right(found.atom_starts, position) - 1
        if i >= 0 and found.atom_kinds[i] == "table" and position < found.atom_ends[i]:
            start = found.atom_starts[i]
            if i not in self._header_ends:
                self._header_ends[i] = after_lines(self._text, start, 2)
            if position >= self._header_ends[i]:
                return start, self._header_ends[i]
        return position, position

    def ancestors(self, i: int) -> list[int]:
        """The heading and those that enclose it, outermost first, as indexes."""
        chain: list[int] = []
        while i >= 0:
            chain.append(i)
            i = self.parents[i]
        return chain[::-1]

    @property
    def parents(self) -> list[int]:
        """For each heading the index of the one that encloses it, or -1."""
        if self._parents is None:
            parents: list[int] = []
            levels = self.structure.heading_levels
            for i, level in enumerate(levels):
                above = i - 1
                while above >= 0 and levels[above] >= level:
                    above = parents[above]
                parents.append(above)
            self._parents = parents
        return self._parents


def after_lines(text: str, start: int, count: int) -> int:
    """The end of the ``count``-th line from ``start`` on, its line end left out."""
    end = start
    for found in islice(_LINE_END.finditer(text, start), count):
        end, count = found.start(), count - 1
    return len(text) if count else end
