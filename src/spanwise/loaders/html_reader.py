"""From the tokens of HTML to the blocks of a page, in the order a browser shows them."""

from __future__ import annotations

import re
from itertools import accumulate, count
from operator import add

from spanwise.loaders.html_blocks import (
    MOST_COLUMNS,
    Block,
    List,
    Table,
    next_mark,
    number_in,
    opened_list,
)
from spanwise.loaders.html_lines import BREAK, Line, lines_of_code, lines_of_text, squeezed
from spanwise.loaders.html_page import Page
from spanwise.loaders.html_tokens import VOID, tokens, unescape

__all__ = ["read_html"]

# Deeper lists are indented no further, and deeper tables are read as plain blocks: either would
# make the work grow with the square of the depth.
_DEEPEST_LIST = 20
_DEEPEST_TABLE = 16


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# How characters are read aloud stands between them, and whole words would not be found.
_READINGS = _names("rt rp rtc")
_HIDDEN = _READINGS | _names(
    "audio video canvas datalist annotation annotation-xml metadata desc defs"
)
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_SECTIONS = frozenset(("thead", "tbody", "tfoot"))
_CELLS = frozenset(("td", "th", "caption"))
_LISTS = frozenset(("ul", "ol", "menu", "dir", "dl"))
_PRE = frozenset(("pre", "listing"))
# What an element that begins a block does; any other element stands in a line.
_ROLES = dict.fromkeys(
    _names(
        "address article aside blockquote center dd details dialog div fieldset figcaption "
        "figure footer form frameset header hgroup legend main nav noframes optgroup p search "
        "section summary"
    ),
    "block",
)
_ROLES |= dict.fromkeys(("html", "head", "body"), "page")
_ROLES |= dict.fromkeys(("li", "dt", "dd"), "item")
_ROLES |= dict.fromkeys(_LISTS, "list") | dict.fromkeys(_HEADINGS, "heading")
_ROLES |= dict.fromkeys(_SECTIONS, "section") | dict.fromkeys(_CELLS, "cell")
_ROLES |= dict.fromkeys(_PRE, "pre") | {"table": "table", "tr": "row", "hr": "rule"}
_IN_TABLES = frozenset(("table", "section", "row", "cell"))
# An unclosed heading ends before these; a browser would set all that follows as the heading.
_END_HEADING = _LISTS | _HEADINGS | _PRE | {"p", "table", "blockquote", "section", "article", "hr"}

_ITEMS = ("li", "dt", "dd")


_line_end = re.compile(r"\r\n?|\n")


class _Reader:
    """Makes blocks of tokens. Only block elements are kept open; nothing recurs."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.out = self.page.blocks
        self.run: list[str] = []
        self.places: list[int] = []  # where each of the run is in the HTML, or -1
        self.at = -1  # where the first ink of the run is
        self.open: list[tuple[str, str, bool]] = []  # name, role, hidden
        self.counts: list[dict[str, int]] = [{}]  # of open names, per cell and table
        self.hidden = 0
        self.quiet = ("", 0, 0)  # a hidden inline element: name, how often, blocks around it
        self.templates = 0  # what is in these is no part of the page, and ends nothing outside
        self.lists = [List("")]  # the first stands for items outside of lists
        self.tables: list[Table] = []
        self.heading = self.pre = 0

    def read(self, html: str) -> Page:
        html = html.replace("\0", "\ufffd")
        head = html[:1024].lstrip("\ufeff \t\r\n")
        xml = head.startswith("<?xml") or "http://www.w3.org/1999/xhtml" in head
        if self.page.lined:
            lines = html.replace("\r\n", " \n").replace("\r", "\n").split("\n")
            self.page.line_ends = list(map(add, accumulate(map(len, lines[:-1])), count(1)))
        svg = 0
        for start, text, kind, at, name, attributes in tokens(html, xml):
            if kind == "raw":
                if name == "title" and not svg:
                    self.page.title = self.page.title or " ".join(unescape(text).split())
                elif name == "textarea":
                    self.text(start, unescape(text))
                elif name == "xmp":
                    self.begin("pre", "pre", start, {})
                    self.text(start, text)
                    self.end("pre")
                continue
            # No block begins with white space.
            if text and (self.run or self.pre or not text.isspace()):
                self.text(start, text)
            if kind == "start":
                if name == "svg":
                    svg += 1
                self.start(name, at, attributes)
            elif kind == "end":
                if name == "svg" and svg:
                    svg -= 1
                self.end(name)
        while self.open:
            self.pop()
        self.flush()
        return self.page

    def text(self, at: int, text: str) -> None:
        if self.hidden or self.quiet[0] or self.templates:
            return
        if self.at < 0:
            inked = text.lstrip()
            if inked:
                self.at = at + len(text) - len(inked)
        self.places.append(at)
        self.run.append(text)

    def part(self, sign: str) -> None:
        """Part the text with what is not written in the HTML."""
        self.places.append(-1)
        self.run.append(sign)

    def start(self, name: str, at: int, attributes: dict[str, str]) -> None:
        self.templates += name == "template"
        if self.templates:
            return
        hides = name in _HIDDEN or (
            "hidden" in attributes and attributes["hidden"] != "until-found"
        )
        role = _ROLES.get(name)
        if self.quiet[0] in _READINGS and (role or name == "rb" or name in _READINGS):
            self.quiet = ("", 0, 0)  # the end tag of a reading may be left out
        if role == "page":
            if name == "html":
                lang = attributes.get("lang") or attributes.get("xml:lang", "")
                self.page.lang = self.page.lang or lang.strip()
            self.split()
        elif role == "rule":
            self.make_room(name)
            self.split()
        elif role:
            self.begin(name, role, at, attributes, hides)
        elif self.quiet[0] or self.hidden:
            if name == self.quiet[0] and name not in VOID:
                self.quiet = (name, self.quiet[1] + 1, self.quiet[2])
        elif name == "br":
            self.part("\n" if self.pre else BREAK)
        elif name == "img" and not hides:
            said, file = attributes.get("alt", ""), attributes.get("src", "")
            # LibreOffice gives the file's name as the alternative text; that says nothing.
            if said.strip() and said.rsplit("/", 1)[-1] != file.rsplit("/", 1)[-1]:
                self.text(at, f" {said} ")
        elif name in ("option", "text"):  # of a menu, of a drawing
            self.part(" ")
        elif name == "meta":
            if attributes.get("name", "").lower() == "description":
                said = " ".join(attributes.get("content", "").split())
                self.page.description = self.page.description or said
        elif hides and name not in VOID:
            self.quiet = (name, 1, len(self.open))

    def make_room(self, name: str) -> None:
        """Close what a block that begins ends: a paragraph, an unclosed heading."""
        if self.open and self.open[-1][0] == "p":
            self.pop()
        if self.heading and name in _END_HEADING:
            self.pop_to(_HEADINGS)

    def begin(
        self, name: str, role: str, at: int, attributes: dict[str, str], hides: bool = False
    ) -> None:
        self.make_room(name)
        if role in _IN_TABLES:
            if not self.begin_table(name, role, at, attributes):
                return
        elif role == "item" and self.lists[-1].item_open:
            self.pop_to(_ITEMS)
        if self.run:
            self.split()
        self.open.append((name, role, hides))
        self.hidden += hides
        counts = self.counts[-1]
        counts[name] = counts.get(name, 0) + 1
        if role == "block":
            pass
        elif role == "item":
            item = self.lists[-1]
            item.item_open = item.fresh = True
            item.mark = {"dt": "", "dd": ": "}.get(name, "- ")
            if name == "li" and not self.hidden and not self.quiet[0]:
                item.mark = next_mark(item, attributes)
        elif role == "list":
            self.lists.append(opened_list(name, attributes))
        elif role == "heading":
            self.heading = int(name[1])
        elif role == "pre":
            self.pre += 1
        elif role in ("cell", "table"):
            self.counts.append({})

    def begin_table(self, name: str, role: str, at: int, attributes: dict[str, str]) -> bool:
        """Open a table or a part of one; whether it is one to keep open."""
        if role == "table":
            if self.pre:
                self.pop_to(_PRE)
            if len(self.tables) >= _DEEPEST_TABLE:
                self.tables[-1].ignored += 1
            elif self.tables and not self.tables[-1].cell_open:
                self.pop_to(("table",))
            if self.tables and self.tables[-1].ignored:
                self.split()
                return False
            self.split()
            table = Table(at, self.out, self.lists)
            table.layout = attributes.get("role", "").lower() in ("presentation", "none")
            self.tables.append(table)
            self.out, self.lists = table.above, [List("")]
            return True
        if not self.tables or self.tables[-1].ignored:
            self.split()
            return False
        table = self.tables[-1]
        if table.cell_open:
            self.pop_to(_CELLS)
        if role != "cell":
            if table.row_open:
                self.pop_to(("tr",))
            if role == "row":
                table.row_open = True
                table.rows.append([])
            else:
                if table.section_open:
                    self.pop_to(_SECTIONS)
                table.section_open = True
                table.sections.add(len(table.rows))
            return True
        if name == "caption":
            self.split()
            self.out = table.above
        else:
            if not table.row_open:
                self.begin("tr", "row", at, {})
            self.split()
            self.out = []
            columns = min(number_in(attributes.get("colspan"), 1) or 1, MOST_COLUMNS)
            rows = number_in(attributes.get("rowspan"), 1)
            table.rows[-1].append((self.out, max(columns, 1), 65534 if rows == 0 else max(rows, 1)))
            table.headed = table.headed or name == "th"
        table.cell_open = True
        self.lists = [List("")]
        return True

    def end(self, name: str) -> None:
        if self.templates:
            self.templates -= name == "template"
            return
        if self.quiet[0] and name == self.quiet[0]:
            quiet, often, around = self.quiet
            self.quiet = (quiet, often - 1, around) if often > 1 else ("", 0, 0)
        elif name == "ruby" and self.quiet[0] in _READINGS:
            self.quiet = ("", 0, 0)
        role = _ROLES.get(name)
        if not role:
            if name == "br":
                self.part(BREAK)
        elif role in _IN_TABLES:
            self.end_table(role)
        elif role == "heading" and self.heading:
            self.pop_to(_HEADINGS)
        elif self.counts[-1].get(name):
            self.pop_to((name,))
        else:
            self.split()

    def end_table(self, role: str) -> None:
        table = self.tables[-1] if self.tables else None
        if table is None or table.ignored:
            self.split()
            if table and role == "table":
                table.ignored -= 1
        elif role == "table":
            self.pop_to(("table",))
        elif role == "cell" and table.cell_open:
            self.pop_to(_CELLS)
        elif role == "row" and table.row_open:
            self.pop_to(("tr",))
        elif role == "section" and table.section_open:
            self.pop_to(_SECTIONS)

    def pop_to(self, names: frozenset[str] | tuple[str, ...]) -> None:
        """Close blocks up to and with the innermost of these names."""
        while self.open and self.pop() not in names:
            pass

    def pop(self) -> str:
        """Close the innermost block; its name."""
        name, role, hidden = self.open[-1]
        if role == "heading" or (role == "pre" and self.pre == 1):
            self.flush()
        elif self.run:
            self.split()
        self.open.pop()
        self.hidden -= hidden
        if self.quiet[0] and len(self.open) < self.quiet[2]:
            self.quiet = ("", 0, 0)
        if role in ("cell", "table"):
            self.counts.pop()
        self.counts[-1][name] -= 1
        if role == "block":
            pass
        elif role == "item":
            item = self.lists[-1]
            item.item_open, item.fresh, item.mark = False, False, ""
        elif role == "list":
            if len(self.lists) > 1:
                self.lists.pop()
        elif role == "heading":
            self.heading = 0
        elif role == "pre":
            self.pre -= 1
        elif role == "row":
            self.tables[-1].row_open = False
        elif role == "section":
            self.tables[-1].section_open = False
        elif role == "cell":
            table = self.tables[-1]
            table.cell_open, self.out, self.lists = False, table.above, [List("")]
        elif role == "table":
            table = self.tables.pop()
            self.out, self.lists = table.before, table.lists
            if not hidden and not self.hidden:
                self.out.extend(table.blocks(self.page.line_of))
        return name

    def split(self) -> None:
        """A block begins or ends: the text before it is written, save in a heading or code."""
        if self.pre:
            if self.run and not self.run[-1].endswith(("\n", "\r")):
                self.part("\n")
        elif self.heading:
            self.part(" ")
        else:
            self.flush()

    def flush(self) -> None:
        """Write the text that is waiting as a block of the kind that is open."""
        at, self.at = self.at, -1
        if at < 0:
            self.run.clear()
            self.places.clear()
            return
        text = "".join(self.run)
        lines = self.lines() if self.page.lined and self.has_lines(at) else []
        self.run.clear()
        self.places.clear()
        item = self.lists[-1]
        fresh, item.fresh = item.fresh, False
        if self.pre:
            code = text.replace(BREAK, "\n")
            self.out.append(Block("code", at, code, lines=lines_of_code(code, lines)))
            return
        text = squeezed(text)
        if self.heading:
            numbered = fresh and item.mark.endswith(". ")
            text = item.mark + text if numbered else text
            self.out.append(Block("heading", at, text, self.heading))
        elif item.item_open:
            depth = max(0, min(len(self.lists) - 2, _DEEPEST_LIST))
            mark = item.mark if fresh else " " * len(item.mark)
            self.out.append(Block("item", at, text, depth, mark, (), lines_of_text(text, lines)))
        else:
            self.out.append(Block("paragraph", at, text, lines=lines_of_text(text, lines)))

    def has_lines(self, at: int) -> bool:
        """Whether the waiting text goes on beyond the line that a place is on."""
        for piece, place in zip(reversed(self.run), reversed(self.places), strict=True):
            if place >= 0 and (inked := piece.rstrip()):
                return self.page.line_of(at) < self.page.line_of(place + len(inked))
        return False

    def lines(self) -> list[Line]:
        """The waiting text by the lines of the HTML that it stands on."""
        found: list[tuple[int, list[str], bool]] = []
        number = 0
        for piece, place in zip(self.run, self.places, strict=True):
            # A break is no line of the HTML.
            line = self.page.line_of(place) if place >= 0 else number
            first, *more = _line_end.split(piece) if place >= 0 else (piece,)
            if found and line == number:
                found[-1][1].append(first)
            else:
                found.append((line, [first], False))
            for number, part in enumerate(more, line + 1):
                found.append((number, [part], True))
            number = line + len(more)
        return [Line(number, "".join(pieces), fed) for number, pieces, fed in found]


def read_html(html: str, *, lines: bool = True) -> Page:
    """The blocks of a page of HTML in order, its title, language and description.

    With ``lines`` it is kept which lines of the HTML they stand on.
    """
    return _Reader(Page(lined=lines)).read(html)
