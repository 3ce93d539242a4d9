"""Which passages are longer than what an embedder reads."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from spanwise.chunks import Chunk
from spanwise.cutting.caps import Cap
from spanwise.embedders.base import ceiling_of
from spanwise.errors import CeilingWarning, OptionError, shown

__all__ = ["ClipReport", "clip_report"]

_ORIGINS = {
    "given": "as the caller says",
    "embedder": "as the embedder says",
    "default": "taken for an embedder of which nothing is known",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipReport:
    """The passages that an embedder would not read to their end.

    ``count`` of ``total`` measure more than the ``ceiling``, the ``largest`` of all in its
    unit; ``ids`` are theirs, in order (a place in the input for bare strings). ``origin`` says
    where the ceiling came from: given, embedder or default.
    """

    count: int
    total: int
    ceiling: Cap
    origin: str
    ids: tuple[str, ...]
    largest: int

    @classmethod
    def of_all(cls, reports: Sequence[ClipReport]) -> ClipReport:
        """One report of several under the same ceiling."""
        return cls(
            count=sum(each.count for each in reports),
            total=sum(each.total for each in reports),
            ceiling=reports[0].ceiling,
            origin=reports[0].origin,
            ids=tuple(name for each in reports for name in each.ids),
            largest=max(each.largest for each in reports),
        )

    def __bool__(self) -> bool:
        return self.count > 0

    def __str__(self) -> str:
        said = _ORIGINS[self.origin]
        if not self.count:
            return (
                f"none of {self.total:,} passages is clipped: the longest measures "
                f"{self.largest:,} of {self.ceiling} ({said})"
            )
        how = "embedder, ceiling=..." if self.origin == "given" else "embedder"
        return (
            f"{self.count:,} of {self.total:,} passages are longer than {self.ceiling} ({said}), "
            f"the longest {self.largest:,}: what is beyond would not be read; cut with "
            f"splitter.within({how}), or choose an embedder that reads more"
        )


def clip_report(
    passages: Iterable[Chunk | str],
    embedder: object = None,
    *,
    ceiling: Cap | int | None = None,
) -> ClipReport:
    """Which passages, made here or elsewhere, are over what an embedder reads.

    What is measured is the string that ships (`Chunk.embed_text`), whole, by the tokenizer
    itself. The ceiling is the one given (a number is one of characters), else the embedder's,
    else 2,000 characters. Clipped passages give one `CeilingWarning` for the whole call.

    >>> print(clip_report(["short", "a longer one"], ceiling=12))
    none of 2 passages is clipped: the longest measures 12 of 12 chars (as the caller says)
    """
    if isinstance(passages, str | Chunk):
        raise OptionError(f"passages={shown(passages)} is one passage; pass [passage] for one")
    cap, origin = ceiling_of(embedder, ceiling)
    # A token sizer also counts without what it counted before.
    size = getattr(cap.sizer, "whole", cap.sizer)
    ids: list[str] = []
    total = largest = 0
    for passage in passages:
        if isinstance(passage, str):
            name, shipped = str(total), passage
        elif isinstance(passage, Chunk):
            name, shipped = passage.id, passage.embed_text
        else:
            raise OptionError(
                f"passages[{total}]={shown(passage)} is neither a chunk nor a string; pass its text"
            )
        measured = size(shipped)
        largest = max(largest, measured)
        if measured > cap.limit:
            ids.append(name)
        total += 1
    report = ClipReport(
        count=len(ids), total=total, ceiling=cap, origin=origin, ids=tuple(ids), largest=largest
    )
    if report:
        warnings.warn(str(report), CeilingWarning, stacklevel=2)
    return report
