"""What a document is made of in its source: labelled stretches, kept as a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from operator import attrgetter, eq, itemgetter
from typing import Any, overload

__all__ = ["Part", "PartRow", "Parts"]

# More parts than these are shown by the first and the last.
_MOST_SHOWN = 3

# What a `Part` is made of, in its order.
PartRow = tuple[str, int, int, str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A labelled stretch of a document: a page, a turn, a record, a cell.

    ``[start, end)`` in code points; ``label`` is what a person calls it.
    """

    kind: str
    start: int
    end: int
    label: str
    meta: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Parts(Sequence[Part]):
    """Parts as columns of one length; a `Part` is made when it is asked for.

    Most of what is asked of the parts of a table of data is where they start, so the columns are
    taken as they are, and are not to change. A label may be a number, which is written out when
    its part is made. Equal to a tuple or list of equal parts; a slice is a table, a sum a tuple.

    >>> rows = Parts(("row",) * 3, (0, 4, 8), (3, 7, 11), range(1, 4), ({},) * 3)
    >>> rows[-1]
    Part(kind='row', start=8, end=11, label='3', meta={})
    >>> rows[1:] == tuple(rows)[1:]
    True
    """

    kinds: Sequence[str] = ()
    starts: Sequence[int] = ()
    ends: Sequence[int] = ()
    labels: Sequence[str] | Sequence[int] = ()
    metas: Sequence[Mapping[str, Any]] = ()

    @classmethod
    def of(cls, parts: Iterable[Part]) -> Parts:
        """These parts as a table; a table as it is."""
        return parts if isinstance(parts, Parts) else cls.of_rows(map(_fields, parts))

    @classmethod
    def of_rows(cls, rows: Iterable[PartRow]) -> Parts:
        """The parts that have these fields, in the order of `Part`."""
        return cls(*zip(*rows, strict=True))

    def rows(self) -> Iterator[PartRow]:
        """The fields of each part, in the order of `Part`."""
        labels = map(str, self.labels)
        return zip(self.kinds, self.starts, self.ends, labels, self.metas, strict=True)

    def of_kind(self, kind: str) -> Parts:
        """Those of one kind."""
        held = [each == kind for each in self.kinds]
        return self if all(held) else Parts(*(tuple(compress(c, held)) for c in _columns(self)))

    def at(self, places: Sequence[int]) -> Parts:
        """Those at some places of this table, which rise."""
        if places and places[-1] - places[0] < len(places):  # mostly they are one run
            return self[places[0] : places[-1] + 1]
        return Parts(*([column[i] for i in places] for column in _columns(self)))

    def labels_at(self, places: Iterable[int]) -> list[str]:
        """The labels of those at some places."""
        return list(map(str, map(self.labels.__getitem__, places)))

    def openers(self) -> list[int]:
        """For each part the last before it that is still open where it begins, or -1.

        One that is open further on was open there too: what holds a place is on the way from the
        last part before it.
        """
        ends = self.ends
        found: list[int] = []
        for i, start in enumerate(self.starts):
            opener = i - 1
            while opener >= 0 and ends[opener] <= start:
                opener = found[opener]
            found.append(opener)
        return found

    def __len__(self) -> int:
        return len(self.starts)

    @overload
    def __getitem__(self, index: int) -> Part: ...
    @overload
    def __getitem__(self, index: slice) -> Parts: ...
    def __getitem__(self, index: int | slice) -> Part | Parts:
        picked = map(itemgetter(index), _columns(self))
        return Parts(*picked) if isinstance(index, slice) else _part(*picked)

    def __iter__(self) -> Iterator[Part]:
        return map(_part, *_columns(self))

    def __add__(self, other: Iterable[Part]) -> tuple[Part, ...]:
        return (*self, *other)

    def __radd__(self, other: Iterable[Part]) -> tuple[Part, ...]:
        return (*other, *self)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Parts):
            return len(self) == len(other) and all(map(eq, self.rows(), other.rows()))
        if isinstance(other, (tuple, list)):
            return len(self) == len(other) and all(map(eq, self, other))
        return NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))  # as the tuple that it is equal to

    def __repr__(self) -> str:
        few = map(repr, self) if len(self) <= _MOST_SHOWN else [repr(self[0]), "…", repr(self[-1])]
        return f"<{', '.join([f'Parts: {len(self)}', *few])}>"


_fields = attrgetter("kind", "start", "end", "label", "meta")
_columns = attrgetter("kinds", "starts", "ends", "labels", "metas")


def _part(kind: str, start: int, end: int, label: str | int, meta: Mapping[str, Any]) -> Part:
    return Part(kind=kind, start=start, end=end, label=str(label), meta=meta)
