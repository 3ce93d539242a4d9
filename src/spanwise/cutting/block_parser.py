"""Markdown blocks by the full CommonMark container rules, line by line, as positions."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field

from spanwise.cutting.markdown_lines import (
    SPACE_AND_TAB,
    atx_title,
    before_return,
    certain_item,
    front_end,
    html_closes,
    html_opens,
    line_feeds,
    opens_table,
)

__all__ = ["Block", "BlockParser", "Structure", "blocks", "read_fully"]


@dataclass(frozen=True, slots=True)
class Structure:
    """Where the headings and the atoms of a Markdown text lie, as flat lists.

    `front` is the end of the front matter, its last line end included; 0 when there is none. A
    heading runs from the start of its first line to the end of its last, without the line end; its
    title range leaves out hashes, underline and outer white space, and is empty for an empty
    heading. Where no heading governs any longer, as on a slide without a title, a loader notes one
    of level 0, without text. An atom is a "fence" or "table" at any depth or a document-level
    "html" block, in whole lines without the last line end.
    """

    front: int = 0
    heading_starts: list[int] = field(default_factory=list)
    heading_ends: list[int] = field(default_factory=list)
    heading_levels: list[int] = field(default_factory=list)
    title_starts: list[int] = field(default_factory=list)
    title_ends: list[int] = field(default_factory=list)
    atom_starts: list[int] = field(default_factory=list)
    atom_ends: list[int] = field(default_factory=list)
    atom_kinds: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Block:
    """A document-level block: its whole lines without the last line end; a heading's level or 0."""

    kind: str
    start: int
    end: int
    level: int = 0


_STARTERS = frozenset(">#`~<=-_*+0123456789")
_spaces = re.compile(r"[ \t]*").match
_hashes = re.compile(r"#{1,6}(?![^ \t])").match
_fence = re.compile(r"```+|~~~+").match
_underline = re.compile(r"(?:=+|-+)[ \t]*\Z").match
_marker = re.compile(r"(?:[-+*]|[0-9]{1,9}[.)])(?![^ \t])").match
_definition = re.compile(
    r"[ \t]*\[(?=[^\]]*[^ \t\n\]])(?:[^\[\]\\]|\\.){1,999}\]:[ \t]*\n?[ \t]*"
    r"(?:<(?:[^<>\\\n]|\\.)*>|(?!<)[^ \t\n]+)"
    r"(?:(?=[ \t\n])[ \t]*\n?[ \t]*"
    r"(?:\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\))[ \t]*(?:\n|\Z)"
    r"|[ \t]*(?:\n|\Z))",
    re.DOTALL,
).match


def blocks(text: str) -> list[Block]:
    r"""Every document-level block of a Markdown text, by the full parser.

    Kinds: front, heading, paragraph, fence, code, html, table, list, quote, rule. A paragraph may
    hold nothing but link definitions. Together they hold every character that is not white. Much
    slower than `scan`.

    >>> [block.kind for block in blocks("# A\n- b\n\n> c\n")]
    ['heading', 'list', 'quote']
    """
    return read_fully(text)[1]


def read_fully(text: str) -> tuple[Structure, list[Block]]:
    """The answers of `scan` and `blocks`, both by the full parser."""
    text = line_feeds(text)
    front = front_end(text)
    found = Structure(front)
    parser = BlockParser(text, found)
    start = int(text.startswith("\ufeff"))
    if front:
        end = front - text.startswith("\n", front - 1)
        parser.blocks.append(("front", start, before_return(text, end), 0))
    parser.run(front or start, len(text))
    return found, [Block(*block) for block in parser.blocks]


def _indent(text: str, at: int, end: int, column: int) -> tuple[int, int]:
    """The first character of `[at, end)` that is not white, and its column."""
    first = _spaces(text, at, end).end()  # type: ignore[union-attr]  # matches the empty string too
    if text.find("\t", at, first) < 0:
        return first, column + first - at
    for place in range(at, first):
        column += 4 - column % 4 if text[place] == "\t" else 1
    return first, column


class BlockParser:
    """Reads lines from a point where no block is open and adds what it finds to a structure.

    The text holds LF or CRLF line ends only. Leaves and containers are the ones of CommonMark's
    parsing strategy (spec 0.31.2, appendix): a line first continues the open containers, then opens
    new ones, then feeds the leaf. A container is its content width in columns, 0 for a quote. A
    line costs its own length at most, however deep the containers.
    """

    def __init__(self, text: str, found: Structure) -> None:
        self.text = text
        self.found = found
        self.blocks: list[tuple[str, int, int, int]] = []
        self._containers: list[int] = []
        self._quotes: list[int] = []  # the depths of the quotes among the containers
        self._hollow = False  # the deepest container is an item that has no content yet
        self._outer = ("", 0)  # kind and start of the open document-level container
        self._list_mark = ""  # the last mark of the last document-level list
        self._leaf = ""
        self._leaf_start = 0
        self._lines: list[tuple[int, int, int]] = []  # a paragraph's lines: start, first, end
        self._lazy = False  # the paragraph's last line cannot be a table header
        self._mark = ""  # the shortest run that closes the open fence
        self._html = 0  # the kind of the open HTML block
        self._tail = 0  # end of the last line that belongs to the open leaf or container

    def run(self, at: int, goal: int) -> int:
        """Read lines from `at` past `goal`; the next line start where surely nothing is open."""
        text, size = self.text, len(self.text)
        blank = False
        while at < size:
            if at > goal and self._settled(at, blank):
                break
            stop = text.find("\n", at)
            if stop < 0:
                stop = size
            end = stop - 1 if stop > at and text[stop - 1] == "\r" else stop
            blank = self._read(at, end)
            at = stop + 1
        self._close(0)
        return min(at, size)

    def _settled(self, at: int, blank: bool) -> bool:
        """Whether the line at `at` opens a document-level block whatever came before."""
        if not self._containers:
            if not self._leaf:
                return True
            if self._leaf in ("fence", "html"):
                return False
        if blank:
            return self.text[at] not in " \t\r\n"
        return certain_item(self.text, at) is not None

    def _read(self, line: int, end: int) -> bool:
        """Take in one line; whether it is blank."""
        text, containers = self.text, self._containers
        first, column = _indent(text, line, end, 0)
        blank = first == end
        base = depth = 0
        count = len(containers)
        while depth < count:
            if first == end:
                # Only a quote and a hollow item refuse an empty rest; to walk all items would be
                # quadratic (test_growth_is_linear, deep-then-blank).
                place = bisect_left(self._quotes, depth)
                more = place < len(self._quotes)
                depth = self._quotes[place] if more else count - self._hollow
                break
            width = containers[depth]
            if width:
                if column - base < width:
                    break
                base += width
            elif column - base > 3 or text[first] != ">":
                break
            else:
                base = column + 1
                first, column = _indent(text, first + 1, end, base)
                base += column > base
            depth += 1
        whole = depth == count
        if whole and self._leaf == "fence":
            self._tail = end
            if (
                column - base <= 3
                and text.startswith(self._mark, first)
                and not text[first:end].rstrip(SPACE_AND_TAB).strip(self._mark[0])
            ):
                self._close_leaf()
        elif whole and self._leaf == "html" and (self._html < 6 or first < end):
            self._tail = end
            if self._html < 6 and html_closes[self._html](text, first, end):
                self._close_leaf()
        elif first < end:
            self._open(line, first, end, column, base, depth)
        else:
            if not whole:
                self._close(depth)
            elif self._leaf != "code":
                self._close_leaf()
            if not blank:
                self._tail = end  # a quote's mark alone still belongs to the quote
        return blank

    def _open(self, line: int, first: int, end: int, column: int, base: int, depth: int) -> None:
        """Open the blocks that begin on a line with content, then feed the rest to the leaf."""
        text, containers = self.text, self._containers
        whole = depth == len(containers)
        leaf = self._leaf  # open still; "" once a container opened on this line
        rule_tails: dict[str, int] = {}
        while column - base <= 3:
            mark = text[first]
            if mark not in _STARTERS:
                break
            if mark == ">":
                self._close(depth)
                self._push("quote", line, 0)
                base = column + 1
                first, column = _indent(text, first + 1, end, base)
                base += column > base
            else:
                if self._open_leaf(line, first, end, depth, leaf, whole, rule_tails):
                    return
                found = _marker(text, first, end)
                if found is None:
                    break
                after = found.end()
                start, place = _indent(text, after, end, column + after - first)
                if (
                    leaf == "paragraph"
                    and whole
                    and (start == end or (mark.isdigit() and int(text[first : after - 1]) != 1))
                ):
                    break
                self._close(depth)
                gap = place - column - (after - first)
                padding = after - first + (1 if start == end or gap > 4 else gap)
                self._push("list", line, column - base + padding, text[after - 1])
                base, first, column = column + padding, start, place
                self._hollow = start == end
            depth += 1
            leaf, whole = "", True
            if first == end:
                self._tail = end
                return
        indented = column - base > 3
        if leaf == "paragraph":
            if indented or not whole or not self._open_table(first, end):
                self._lines.append((line, first, end))
                self._lazy = indented or not whole
        elif not (whole and leaf == ("code" if indented else "table")):
            self._close(depth)
            self._hollow = False
            self._leaf, self._leaf_start = "code" if indented else "paragraph", line
            self._lines = [(line, first, end)]
            self._lazy = False
        self._tail = end

    def _open_leaf(
        self,
        line: int,
        first: int,
        end: int,
        depth: int,
        leaf: str,
        whole: bool,
        rule_tails: dict[str, int],
    ) -> bool:
        """Open the heading, fence, HTML block or rule at `first`, if one begins there."""
        text, mark = self.text, self.text[first]
        if mark == "#":
            hashes = _hashes(text, first, end)
            if hashes is None:
                return False
            self._close(depth)
            title = atx_title(text, hashes.end(), end)
            self._heading(line, end, hashes.end() - first, *title)
        elif mark in "`~":
            run = _fence(text, first, end)
            if run is None or (mark == "`" and text.find("`", run.end(), end) >= 0):
                return False
            self._close(depth)
            self._leaf, self._leaf_start, self._mark = "fence", line, run.group()
        elif mark == "<":
            tag = html_opens(text, first, end)
            if tag is None:
                return False
            kind = tag.lastindex or 0
            if kind == 7 and (leaf == "paragraph" or (leaf == "table" and whole)):
                return False
            self._close(depth)
            if kind > 5 or html_closes[kind](text, first, end) is None:
                self._leaf, self._leaf_start, self._html = "html", line, kind
            elif not self._containers:
                self._atom("html", line, end)
        elif leaf == "paragraph" and whole and mark in "=-" and _underline(text, first, end):
            skip = self._definitions()
            if skip == len(self._lines):
                # Nothing but definitions: there is no title to underline, but dashes make a rule.
                return self._open_leaf(line, first, end, depth, "", whole, rule_tails)
            start, title_start, _ = self._lines[skip]
            _, last_first, last_end = self._lines[-1]
            title_end = last_first + len(text[last_first:last_end].rstrip(SPACE_AND_TAB))
            if skip and not self._containers:
                self.blocks.append(("paragraph", self._leaf_start, self._lines[skip - 1][2], 0))
            self._leaf = ""
            self._heading(start, end, 1 if mark == "=" else 2, title_start, title_end)
        elif mark in "-_*":
            if mark not in rule_tails:
                rule_tails[mark] = first + len(text[first:end].rstrip(mark + SPACE_AND_TAB))
            if first < rule_tails[mark] or text.count(mark, first, end) < 3:
                return False
            self._close(depth)
            if not self._containers:
                self.blocks.append(("rule", line, end, 0))
        else:
            return False
        self._hollow = False
        self._tail = end
        return True

    def _open_table(self, first: int, end: int) -> bool:
        """Turn the paragraph's last line into a table header if a delimiter row follows it."""
        text = self.text
        start, header, header_end = self._lines[-1]
        if (
            self._lazy
            or text[first] not in "|:-"
            or not opens_table(text[header:header_end], text[first:end])
        ):
            return False
        if len(self._lines) > 1:
            self._tail = self._lines[-2][2]
            self._close_leaf()
        self._leaf, self._leaf_start = "table", start
        return True

    def _definitions(self) -> int:
        """How many lines of the paragraph are link reference definitions, from its top."""
        if self.text[self._lines[0][1]] != "[":
            return 0
        joined = "\n".join([self.text[first:end] for _, first, end in self._lines])
        at, found = 0, _definition(joined)
        while found and at < len(joined):
            at = found.end()
            found = _definition(joined, at)
        return len(self._lines) if at == len(joined) else joined.count("\n", 0, at)

    def _push(self, kind: str, line: int, width: int, mark: str = "") -> None:
        """Open a container; an item beside its list's last item carries that list on."""
        if not self._containers:
            self._outer = (kind, line)
            if kind == "list":
                if self.blocks and self.blocks[-1][0] == "list" and self._list_mark == mark:
                    self._outer = (kind, self.blocks.pop()[1])
                self._list_mark = mark
        if not width:
            self._quotes.append(len(self._containers))
        self._containers.append(width)
        self._hollow = False

    def _close(self, depth: int) -> None:
        """Close the leaf and every container from `depth` on."""
        if self._leaf:
            self._close_leaf()
        if depth < len(self._containers):
            del self._containers[depth:]
            while self._quotes and self._quotes[-1] >= depth:
                self._quotes.pop()
            self._hollow = False
            if not depth:
                self.blocks.append((*self._outer, self._tail, 0))

    def _close_leaf(self) -> None:
        kind, self._leaf = self._leaf, ""
        if kind in ("fence", "table") or (kind == "html" and not self._containers):
            self._atom(kind, self._leaf_start, self._tail)
        elif kind and not self._containers:
            self.blocks.append((kind, self._leaf_start, self._tail, 0))

    def _atom(self, kind: str, start: int, end: int) -> None:
        self.found.atom_kinds.append(kind)
        self.found.atom_starts.append(start)
        self.found.atom_ends.append(end)
        if not self._containers:
            self.blocks.append((kind, start, end, 0))

    def _heading(self, start: int, end: int, level: int, title_start: int, title_end: int) -> None:
        if self._containers:
            return
        self.blocks.append(("heading", start, end, level))
        self.found.heading_starts.append(start)
        self.found.heading_ends.append(end)
        self.found.heading_levels.append(level)
        self.found.title_starts.append(title_start)
        self.found.title_ends.append(title_end)
