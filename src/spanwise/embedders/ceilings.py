"""measured_ceiling: how much of a text an embedder really reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from math import dist, hypot

from spanwise.cutting.caps import Cap, name_of
from spanwise.cutting.sizers import Sizer, words
from spanwise.embedders.base import Embedder
from spanwise.errors import EmbedderError, OptionError, require, shown
from spanwise.vectors import checked_vectors

__all__ = ["MeasuredCeiling", "measured_ceiling"]

# One letter is one word, one character and, in every common tokenizer, one token: a text of them
# grows by one unit at a time.
_LETTER = "a"

# For sizes in words, where the model itself counts tokens: words of ordinary lengths, so that a
# figure in words means prose.
_PROSE = (
    "the committee published a revised schedule for regional maintenance after several residents "
    "complained about interrupted deliveries and asked whether temporary arrangements could be "
    "extended until the autumn while engineers examine damaged bridges near the harbour"
)

_TAIL = "Quartz violins juggle seven cryptic dolphins beneath volcanic moonlight. "

# A tail is at least so long, and at least as long as what stands before it: so a model that takes
# a mean over all it reads is moved by a large part, however long the text.
_SHORTEST_TAIL = 400

# Two vectors further apart than this part of their length are two readings. Distance is used, not
# cosine: one token in n moves a mean by 1/n in distance but by its square in cosine, which drowns
# in float32 (1e-7) from a thousand tokens on. One token in 20,000 still moves it by 5e-5.
_APART = 1e-5

# An answer that moves by chance is given this much room, and refused beyond the second number.
_NOISE_ROOM = 4
_MOST_NOISE = 0.05


@dataclass(frozen=True, slots=True)
class MeasuredCeiling:
    """What `measured_ceiling` found.

    ``limit``: the units that are read, None when nothing up to ``most`` was cut.
    ``unit``: what they count. ``calls``: how often the embedder was called.
    """

    limit: int | None
    unit: str
    calls: int


def measured_ceiling(
    embedder: Embedder,
    *,
    unit: Sizer | None = None,
    most: int = 20_000,
    filler: str | None = None,
    tail: str = _TAIL,
) -> MeasuredCeiling:
    """How much of a text an embedder reads before the rest has no effect.

    - ``unit``: the sizer to answer in (unset: that of the declared ceiling, else words).
    - ``most``: the largest size that is tried, in that unit.
    - ``filler``: the words a text is grown of, again and again (unset: ``"a"``; for
      sizes in words, a sentence of usual words, since the figure then holds for
      such text only). The step between two sizes is one word of it, or one
      character where the unit grows with each character; a longer step is answered
      by its smallest size, which is never more than what is read.
    - ``tail``: unrelated text put behind; its vector must differ from the filler's.

    A text is read to its end when the tail behind it moves the vector. The largest
    such text is sought by doubling, then by halving, so every text beyond it is
    taken to be cut: an embedder that keeps the end of a text instead of its
    beginning shows no ceiling. One that refuses a long text raises its own error.

    Raises `EmbedderError` when filler and tail have one vector, or when the vector of
    one text differs from call to call by more than 5 %. Deterministic. Cost: at most
    ``4 + 2 * log2(8 * most)`` calls, of two texts each but for the first.
    """
    require("most", most, 1)
    if not (hasattr(embedder, "embed") and hasattr(embedder, "id")):
        raise OptionError(
            f"embedder={shown(embedder)} is no embedder; wrap a function in FunctionEmbedder"
        )
    if not (isinstance(tail, str) and isinstance(filler, str | None)):
        raise OptionError(f"filler={shown(filler)} and tail={shown(tail)} must be texts")
    if not (unit is None or callable(unit)):
        raise OptionError(f"unit={shown(unit)} cannot be called; pass chars, words or a sizer")
    ceiling = embedder.ceiling if isinstance(embedder.ceiling, Cap) else None
    sizer = unit or (ceiling.sizer if ceiling is not None else words)
    filler = (_PROSE if sizer is words else _LETTER) if filler is None else filler
    if not filler.split() or not tail.strip():
        raise OptionError(
            f"filler={shown(filler)} and tail={shown(tail)} must both hold a word; "
            "leave them out for the usual ones"
        )
    probe = _Probe(embedder, sizer, filler, tail)
    probe.calibrate()
    limit = _cliff(probe, most)
    return MeasuredCeiling(limit, name_of(sizer), probe.calls)


def _cliff(probe: _Probe, most: int) -> int | None:
    """The size at which the tail stops to count, None when it counts at every size."""
    read, grown = 0, 1  # in steps of the filler
    while probe.size(grown) <= most and grown <= 8 * most:
        if not probe.is_tail_read(grown):
            return _between(probe, read, grown)
        read, grown = grown, 2 * grown
    # The last doubling went beyond `most`: the largest text within it is still to be tried.
    fits, too_large = read, grown
    while too_large - fits > 1:
        middle = (fits + too_large) // 2
        if probe.size(middle) <= most:
            fits = middle
        else:
            too_large = middle
    if fits == read or probe.is_tail_read(fits):
        return None
    return _between(probe, read, fits)


def _between(probe: _Probe, read: int, cut: int) -> int:
    """The size that is read, between a text that is read to its end and one that is not."""
    while cut - read > 1:
        middle = (read + cut) // 2
        if probe.is_tail_read(middle):
            read = middle
        else:
            cut = middle
    return min(probe.size(read) + 1, probe.size(cut))


class _Probe:
    """Texts of a growing filler, and whether an embedder reads what stands behind them."""

    __slots__ = (
        *("_apart", "_by_character", "_dimensions", "_embedder", "_filler", "_sizer", "_tail"),
        "calls",
    )

    def __init__(self, embedder: Embedder, sizer: Sizer, filler: str, tail: str) -> None:
        self._embedder = embedder
        self._sizer = sizer
        self._filler = filler.split()
        self._tail = tail
        self._apart = _APART
        # A unit that grows with every character is measured by characters, others by words.
        self._by_character = sizer(_LETTER * 8) - sizer(_LETTER * 4) >= 4
        self.calls = 0
        self._dimensions = 0

    def calibrate(self) -> None:
        """Learn how far a vector moves by chance; refuse what cannot be told apart."""
        text = self._text(64) + " " + self._tail
        first, filler, tail = self._embed([text, self._filler[0], self._tail])
        (again,) = self._embed([text])
        noise = _apart(first, again)
        if noise > _MOST_NOISE:
            raise EmbedderError(
                f"{self._embedder.id} answered two vectors {noise:.2%} apart for one text; its "
                "ceiling can only be measured when it answers the same again"
            )
        self._apart = max(_APART, _NOISE_ROOM * noise)
        if _apart(filler, tail) <= self._apart:
            raise EmbedderError(
                f"{self._embedder.id} has one vector for {shown(self._filler[0])} and "
                f"{shown(self._tail)}; pass a filler and a tail of words that it knows"
            )

    def size(self, steps: int) -> int:
        """The size of the text of so many steps."""
        return self._sizer(self._text(steps))

    def is_tail_read(self, steps: int) -> bool:
        """Whether the tail moves the vector of the text of so many steps."""
        text = self._text(steps)
        # Characters are counted, so none is put between; a word must not grow into another.
        joint = "" if self._by_character else " "
        times = max(_SHORTEST_TAIL, len(text)) // len(self._tail) + 1
        alone, followed = self._embed([text, text + joint + self._tail * times])
        return _apart(alone, followed) > self._apart

    def _text(self, steps: int) -> str:
        """The filler, grown to so many words, or characters."""
        if not self._by_character:
            return " ".join(islice(cycle(self._filler), steps))
        return "".join(islice(self._characters(), steps))

    def _characters(self) -> Iterator[str]:
        for word in cycle(self._filler):
            yield from word
            yield " "

    def _embed(self, texts: list[str]) -> Sequence[Sequence[float]]:
        self.calls += 1
        vectors = checked_vectors(
            self._embedder.embed(texts), len(texts), self._dimensions, name=self._embedder.id
        )
        self._dimensions = len(vectors[0])
        return vectors


def _apart(left: Sequence[float], right: Sequence[float]) -> float:
    """How far two vectors are apart, as a part of the longer one's length."""
    longest = max(hypot(*left), hypot(*right))
    return dist(left, right) / longest if longest else 0.0
