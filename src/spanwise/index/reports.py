"""What a run did, and what a check found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

__all__ = ["Difference", "Failure", "IndexReport", "Progress", "VerifyReport", "Watch"]


@dataclass(frozen=True, slots=True)
class Failure:
    """A document that could not be indexed this time, and why.

    ``stale`` says that what was known of it before is still in the index.
    """

    uri: str
    reason: str
    stale: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: so many of so many documents, and the one that comes next."""

    done: int
    total: int
    uri: str
    embedded: int


Watch = Callable[[Progress], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexReport:
    """What a run did; of a dry run, what it would do.

    Args:
        discovered: documents found.
        added: their number that is new; ``changed``, ``unchanged`` likewise.
        recut: documents of the index that were cut or embedded anew for other options.
        loaded: documents that were read.
        chunks: passages of the documents that were written.
        embedded: passages embedded; ``reused`` had a vector already.
        removed: uris of the documents taken out.
        failed: what could not be indexed, with reasons.
        clipped: ids of passages longer than what the embedder reads.
        splitter: the splitter's fingerprint; ``embedder`` is that of the embedder, or empty.
        notes: what a person should know.
        seconds: how long it took.
        dry_run: whether nothing was written.
    """

    discovered: int
    added: int
    changed: int
    unchanged: int
    recut: int
    loaded: int
    chunks: int
    embedded: int
    reused: int
    removed: tuple[str, ...]
    failed: tuple[Failure, ...]
    clipped: tuple[str, ...]
    splitter: str
    embedder: str
    notes: tuple[str, ...]
    seconds: float
    dry_run: bool

    @classmethod
    def of_all(cls, reports: Sequence[IndexReport]) -> IndexReport:
        """One report of several runs with the same options."""

        def total(name: str) -> Any:
            values = [getattr(each, name) for each in reports]
            return sum(values[1:], start=values[0])

        kept = ("splitter", "embedder", "dry_run")
        return cls(
            **{
                each.name: getattr(reports[0], each.name) if each.name in kept else total(each.name)
                for each in fields(cls)
            }
        )

    @property
    def stale(self) -> tuple[str, ...]:
        """Documents that failed and keep what was known of them."""
        return tuple(each.uri for each in self.failed if each.stale)

    def to_dict(self) -> dict[str, Any]:
        """The fields by name, in plain lists and dicts."""
        return asdict(self)

    def __str__(self) -> str:
        counts = [
            f"{self.added:,} added",
            f"{self.changed:,} changed",
            f"{self.unchanged:,} unchanged",
            f"{len(self.removed):,} removed",
        ]
        if self.recut:
            counts.append(f"{self.recut:,} cut anew")
        if self.failed:
            counts.append(f"{len(self.failed):,} failed")
        passages = f"{self.chunks:,} passages written"
        if self.embedder:
            passages += f", {self.embedded:,} embedded and {self.reused:,} reused"
        would = "a dry run, nothing was written: " if self.dry_run else ""
        return (
            f"{would}{self.discovered:,} documents: {', '.join(counts)}; {passages}; "
            f"{self.seconds:.1f} s"
        )


@dataclass(frozen=True, slots=True)
class Difference:
    """A way in which an index is not what it should be.

    ``kind`` is ``damage`` (inside the index), ``missing`` (its file is gone), ``changed`` (its
    file is another), ``new`` (a file that is not indexed), ``cut`` (cut by other options).
    """

    kind: str
    uri: str
    what: str


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """How many documents and passages were checked, and every difference found."""

    documents: int
    chunks: int
    differences: tuple[Difference, ...]

    def __bool__(self) -> bool:
        return not self.differences

    def __str__(self) -> str:
        checked = f"{self.documents:,} documents and {self.chunks:,} passages checked"
        if not self.differences:
            return f"{checked}: all is as it should be"
        count = len(self.differences)
        return f"{checked}: {count:,} difference{'' if count == 1 else 's'}"
