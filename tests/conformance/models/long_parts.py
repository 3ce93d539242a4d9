"""How `SemanticChunker` splits what exceeds its largest size."""

from __future__ import annotations

from typing import NamedTuple, Protocol
from zlib import crc32

from .cuts import borders, cuts_between, first_cut, ink, ink_end, ink_start, last_cut, word_below
from .parts import Part, Sizes, slice_of, trimmed
from .runs import Run, Runs, runs_join, runs_length, runs_slice, runs_text
from .white import NONE, Hang, On, js_is_blank, js_is_space, js_trim

CODE_LEVELS = ("paragraph", "line", "sentence", "word", "cluster")
CHOSEN = ("paragraph", "line", "sentence")
CHECKED = 64
LONG = 8


class Level(NamedTuple):
    """What parts are cut at, what the reference joins them with and calls them."""

    name: str
    joiner: str
    kind: str


PARAGRAPH = Level("paragraph", "\n\n", "paragraph")
LINE = Level("line", "\n", "front")
SENTENCE = Level("sentence", " ", "sentence")
WORD = Level("word", " ", "fixed")


class Split(Protocol):
    """How a part that exceeds the largest size is split."""

    def __call__(self, source: str, part: Part, sizes: Sizes, *, on: On) -> list[Part]: ...


def split_long(source: str, part: Part, sizes: Sizes, *, on: On = NONE) -> list[Part]:
    """At blank lines, else at sentence ends, else by count."""
    if runs_length(part.runs) <= sizes.max_size:
        return [part]
    if part.kind == "code-block" and "local" in on and "slices" in on:
        return split_code(source, part, sizes, on=on)
    if runs_length(part.runs) > LONG * sizes.target_size and "local" in on and "slices" in on:
        return split_best(source, part, sizes, part.head, part.runs[-1].end + 1, on=on)
    units = paragraph_units(source, part.runs, on=on)
    if len(units) <= 1 and "slices" not in on:
        return split_sentences(source, part, sizes, on=on)
    return refined(source, units, part, PARAGRAPH, sizes, split_sentences, on=on)


def split_lines(source: str, part: Part, sizes: Sizes, *, on: On) -> list[Part]:
    """Front matter: packed from its lines; a line over the largest size at its sentences."""
    units = level_units(source, part.runs, "line", on=on)
    done = refined(source, units, part, LINE, sizes, split_sentences, on=on)
    return [piece._replace(kind="front") for piece in done]


def split_sentences(source: str, part: Part, sizes: Sizes, *, on: On = NONE) -> list[Part]:
    units = sentence_units(source, part.runs, on=on)
    if len(units) <= 1 and "slices" not in on:
        return split_words(source, part, sizes, on=on)
    return refined(source, units, part, SENTENCE, sizes, split_words, on=on)


def split_words(source: str, part: Part, sizes: Sizes, *, on: On) -> list[Part]:
    """By count; with `whole-words`, words are packed and only longer ones are cut by count."""
    if "whole-words" not in on:
        return split_fixed(source, part, sizes, on=on)
    units = level_units(source, part.runs, "word", on=on)
    return refined(source, units, part, WORD, sizes, split_fixed, on=on)


def refined(
    source: str, units: list[Runs], part: Part, level: Level, sizes: Sizes, split: Split, *, on: On
) -> list[Part]:
    """Units packed; what still exceeds the largest size is split by the next weaker rule."""
    done: list[Part] = []
    for small in pack_units(source, units, part, level, sizes, on=on):
        if runs_length(small.runs) > sizes.max_size:
            done.extend(split(source, small, sizes, on=on))
        else:
            done.append(small)
    return done


def pack_units(
    source: str, units: list[Runs], part: Part, level: Level, sizes: Sizes, *, on: On
) -> list[Part]:
    """Units joined while they fit the target; blank parts are dropped.

    The next part's place is reckoned as if one joiner had stood between the units.
    """
    done: list[Part] = []
    packed: Runs = ()
    offset = part.offset
    for unit in units:
        length = runs_length(packed)
        if not length:
            packed = unit
        elif packs(join_units(packed, level, unit, on=on), packed, part, sizes, on=on):
            packed = join_units(packed, level, unit, on=on)
            continue
        else:
            done.append(Part(packed, offset, level.kind, part.head))
            offset += length + len(level.joiner)
            packed = unit
        cut = under_heading(source, packed, part, sizes, on=on)
        if cut >= 0:
            first, rest = parted(source, packed, part, cut, level, on=on)
            units = level_units(source, rest.runs, level.name, on=on)
            return [*packed_parts(source, done, on=on), first] + (
                pack_units(source, units, rest, level, sizes, on=on) if units else []
            )
    done.append(Part(packed, offset, level.kind, part.head))
    return packed_parts(source, done, on=on)


def packed_parts(source: str, done: list[Part], *, on: On) -> list[Part]:
    done = [trimmed(source, small, on=on) for small in done]
    return [small for small in done if not js_is_blank(runs_text(source, small.runs))]


def under_heading(source: str, packed: Runs, part: Part, sizes: Sizes, *, on: On) -> int:
    """With `bare`, a heading that fills the target takes one word more: its end, or -1."""
    if "bare" not in on or "slices" not in on:
        return -1
    return filled(source[:-1], packed[0].start, part.head, part.runs[-1].end, sizes, on=on)


def filled(text: str, start: int, head: int, high: int, sizes: Sizes, *, on: On) -> int:
    """Where a part from `start` ends when the headings above `head` fill the target, or -1."""
    if high - start <= sizes.target_size or head - start < sizes.target_size:
        return -1
    return word_below(text, start, head, high, sizes.target_size, on, sizes.max_size)


def parted(
    source: str, packed: Runs, part: Part, cut: int, level: Level, *, on: On
) -> tuple[Part, Part]:
    """A part up to a cut and what is left."""
    start, high = packed[0].start, part.runs[-1].end
    opens = ink_start(source, cut, high, on)
    first = Part((Run(start, cut),), start, level.kind, part.head)
    return (
        trimmed(source, first, on=on),
        part._replace(runs=(Run(opens, high),), offset=opens),
    )


def packs(whole: Runs, packed: Runs, part: Part, sizes: Sizes, *, on: On) -> bool:
    """While they fit the target; with `bare`, a heading also takes what does not fit with it."""
    if "bare" in on:
        start, end = packed[0].start, packed[-1].end
        if end <= part.head < start + sizes.target_size and start < part.head:
            return True
    return runs_length(whole) <= sizes.target_size


def join_units(packed: Runs, level: Level, unit: Runs, *, on: On) -> Runs:
    """With the joiner between, or the slice of both."""
    if "slices" in on:
        return (Run(packed[0].start, unit[-1].end),)
    return runs_join(packed, level.joiner, unit)


# Units.


def paragraph_units(source: str, runs: Runs, *, on: On = NONE) -> list[Runs]:
    """Between LF, white space, LF, as long as it goes."""
    if "slices" in on:
        return level_units(source, runs, "paragraph", on=on)
    return between(runs, blank_gaps(runs_text(source, runs)))


def sentence_units(source: str, runs: Runs, *, on: On = NONE) -> list[Runs]:
    """Between stretches of white space that follow a sentence mark."""
    if "slices" in on or "boundaries" in on:
        return level_units(source, runs, "sentence", on=on)
    return between(runs, sentence_gaps(runs_text(source, runs)))


def level_units(source: str, runs: Runs, level: str, *, on: On) -> list[Runs]:
    """Between the cuts of a level, from the first ink on; a slice goes up to its cut."""
    if "slices" not in on:
        text = runs_text(source, runs)
        cuts = cuts_between(level, text, 0, len(text), on)
        return between(runs, [(cut, ink_start(text, cut, len(text), on)) for cut in cuts])
    start, high = runs[0].start, runs[-1].end
    text = source[:-1]
    units: list[Runs] = []
    for cut in [*cuts_between(level, text, start, high - 1, on), high]:
        opens = ink_start(text, start, cut, on)
        if opens < cut:
            units.append((Run(opens, cut),))
            start = cut
    return units


def between(runs: Runs, gaps: list[tuple[int, int]]) -> list[Runs]:
    """What lies between the gaps, empty units included."""
    found: list[Runs] = []
    start = 0
    for gap_start, gap_end in gaps:
        found.append(runs_slice(runs, start, gap_start))
        start = gap_end
    return [*found, runs_slice(runs, start, runs_length(runs))]


def white_stretches(text: str) -> list[tuple[int, int]]:
    """Every longest stretch of white space."""
    found: list[tuple[int, int]] = []
    place = 0
    while place < len(text):
        end = place
        while end < len(text) and js_is_space(text[end]):
            end += 1
        if end > place:
            found.append((place, end))
        place = max(end, place + 1)
    return found


def blank_gaps(text: str) -> list[tuple[int, int]]:
    """In each stretch of white space, from its first LF to its last, when they are two."""
    gaps: list[tuple[int, int]] = []
    for start, end in white_stretches(text):
        first, last = text.find("\n", start, end), text.rfind("\n", start, end)
        if first < last:
            gaps.append((first, last + 1))
    return gaps


def sentence_gaps(text: str) -> list[tuple[int, int]]:
    return [
        (start, end)
        for start, end in white_stretches(text)
        if start > 0 and text[start - 1] in ".!?"
    ]


# By count.


def split_fixed(source: str, part: Part, sizes: Sizes, *, on: On = NONE) -> list[Part]:
    """Every `target_size` characters; pieces are trimmed but their place is not moved."""
    if "whole-words" in on and "slices" in on:
        return split_word(source, part, sizes, on=on)
    text = runs_text(source, part.runs)
    done: list[Part] = []
    start = 0
    while start < len(text):
        end = fixed_cut(text, start, sizes, on=on)
        left, right = js_trim(text, start, end)
        if left < right:
            done.append(Part(runs_slice(part.runs, left, right), part.offset + start, "fixed"))
        following = fixed_next(text, end, on=on)
        if following <= start:
            raise Hang("the fixed split does not move on")
        start = following
    return done


def fixed_cut(text: str, start: int, sizes: Sizes, *, on: On = NONE) -> int:
    """The target, moved back to the last U+0020 that is far enough in, or to a border."""
    end = min(start + sizes.target_size, len(text))
    if end >= len(text):
        return len(text)
    space = text.rfind(" ", 0, max(end, 0) + 1)
    if space > start + sizes.min_size:
        return space
    return border_near(text, start, end, len(text), on=on) if "clusters" in on else end


def border_near(text: str, start: int, end: int, high: int, *, on: On) -> int:
    """The last border in `start..end`, else the first after it."""
    for place in range(end, start, -1):
        if place in borders(text, on):
            return place
    return next(place for place in range(end, high + 1) if place in borders(text, on))


def fixed_next(text: str, end: int, *, on: On = NONE) -> int:
    """Spaces alone are skipped."""
    while end < len(text) and text[end] == " ":
        end += 1
    return end


def split_word(source: str, part: Part, sizes: Sizes, *, on: On) -> list[Part]:
    """A word over the largest size: every `target_size` characters, at borders."""
    start, high = slice_of(part)
    text = source[:-1]
    done: list[Part] = []
    while start < high:
        end = start + sizes.target_size
        if end < high:
            floor = part.head if start < part.head < end else start
            below = filled(text, start, part.head, high, sizes, on=on)
            end = below if below >= 0 else border_near(text, floor, end, high, on=on)
        run = Run(start, ink_end(text, start, min(end, high), on))
        done.append(Part((run,), start, "fixed"))
        start = ink_start(text, min(end, high), high, on)
    return done


# The locally best cut.


def split_code(source: str, part: Part, sizes: Sizes, *, on: On) -> list[Part]:
    """A code block over the largest size, cut where an edit does not ripple.

    Its opening line stays with what follows, its closing line with what precedes.
    """
    text = source[:-1]
    start, high = ink(text, *slice_of(part), on)
    head, tail = code_inside(text, part.head, high, on=on)
    if start < part.head and ink_end(text, start, head, on) - start > sizes.target_size:
        head = part.head  # the opening line does not fit with the heading
    return split_best(source, part, sizes, head, tail, on=on)


def split_best(
    source: str, part: Part, sizes: Sizes, head: int, tail: int, *, on: On
) -> list[Part]:
    """At the locally best cuts, none up to `head` if there is a choice, none from `tail` on."""
    text = source[:-1]
    start, high = ink(text, *slice_of(part), on)
    done: list[Part] = []
    long = high - start > LONG * sizes.target_size
    while start < high:
        end = start + sizes.target_size
        if end < high:
            floor = max(start, head) if head < end else start
            limit = min(end, max(tail - 1, floor + 1))
            end = filled(text, start, head, high, sizes, on=on)
            if end < 0:
                end = code_cut(text, start, floor, limit, high, sizes, on, long)
        run = Run(start, ink_end(text, start, min(end, high), on))
        done.append(Part((run,), start, "fixed"))
        start = ink_start(text, min(end, high), high, on)
    return done


def code_inside(text: str, start: int, end: int, *, on: On) -> tuple[int, int]:
    """Where the first line after the opening one begins and the one before the closing ends."""
    stops = cuts_between("line", text, start, end - 1, on)
    if not stops:
        return end, end + 1
    last = text[stops[-1] : end].strip()
    closed = last.startswith(("```", "~~~"))
    tail = ink_end(text, start, stops[-1], on) if closed else end + 1
    return next_ink(text, stops[0], end), tail


def code_cut(
    text: str,
    start: int,
    floor: int,
    limit: int,
    high: int,
    sizes: Sizes,
    on: On,
    long: bool,
) -> int:
    """Of the strongest level that has a cut the best in the back half, else the last.

    Of words and clusters always the last.
    """
    half = max(floor, start + sizes.target_size // 2)
    for level in CODE_LEVELS:
        cut = -1
        if level in CHOSEN:
            cut = best_cut(
                text, level, half, limit, high, sizes, on=on, floor=floor if long else half
            )
        if cut < 0:
            cut = last_cut(level, text, floor, limit, on)
        if cut > start:
            return cut
    beyond = start + sizes.target_size + 1
    return next(place for place in range(beyond, high + 1) if place in borders(text, on))


def best_cut(
    text: str,
    level: str,
    start: int,
    end: int,
    high: int,
    sizes: Sizes,
    *,
    on: On,
    floor: int | None = None,
) -> int:
    """Of the cuts in `start < c <= end`: least indentation, then the longest unit after it.

    Of equals the one whose unit has the largest checksum, then the latest. Where they leave no
    choice, the cuts from half as far before `start` on count too, if they lie beyond the `floor`.
    """
    # The last cut of each gap, by the place where the text goes on.
    openings = {next_ink(text, c, high): c for c in cuts_between(level, text, start, end, on)}
    if len(openings) < 2 and floor is not None and floor < start:
        low = max(floor, start - (end - start) // 2)
        openings = {next_ink(text, c, high): c for c in cuts_between(level, text, low, end, on)}
    ranks: list[tuple[int, int, int, int]] = []
    for place, cut in openings.items():
        stop = min((other for other in openings.values() if other > cut), default=-1)
        if stop < 0:
            stop = first_cut(level, text, place, min(high, place + sizes.target_size), on)
        check = crc32(text[place : place + CHECKED].encode("utf-8", "surrogatepass"))
        ranks.append((-indentation(text, cut, place), stop - place, check, cut))
    return max(ranks)[3] if ranks else -1


def next_ink(text: str, start: int, end: int) -> int:
    while start < end and js_is_space(text[start]):
        start += 1
    return start


def indentation(text: str, cut: int, place: int) -> int:
    """The columns between the last line end of a gap and the text that follows it."""
    opened = max(text.rfind("\n", cut, place), text.rfind("\r", cut, place))
    return len(text[opened + 1 : place].expandtabs(4)) if opened >= 0 else 0


# The cap.


def cap(source: str, parts: list[Part], sizes: Sizes, *, on: On) -> list[Part]:
    """A cluster over the largest size is cut between its characters."""
    if "slices" not in on:
        return parts
    whole = sizes._replace(target_size=sizes.max_size)
    done: list[Part] = []
    for part in parts:
        for small in split_long(source, part._replace(kind="paragraph", head=-1), whole, on=on):
            start, end = slice_of(small)
            for place in range(start, end, sizes.max_size):
                run = Run(place, min(place + sizes.max_size, end))
                done.append(Part((run,), place, part.kind))
    return done
