"""PowerPoint files: each slide as a part, in the order they are shown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from spanwise.documents import Document
from spanwise.errors import LoadError
from spanwise.loaders.archives import Archive, holds_member, open_archive
from spanwise.loaders.base import Raw
from spanwise.loaders.builder import Builder
from spanwise.loaders.office import (
    attribute,
    main_part,
    numeral,
    office_meta,
    read_main,
    read_xml,
    relation_id,
    relations,
    under,
    whole_number,
)

__all__ = ["PptxLoader"]

_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
_MAIN = "ppt/presentation.xml"

_TITLES = ("title", "ctrTitle")
_BODIES = ("obj", "body", "")
# The same on every slide.
_FURNITURE = ("dt", "ftr", "hdr", "sldNum", "sldImg")
_BULLETS = ("a:buChar", "a:buAutoNum", "a:buBlip")
_LEVELS = 9
# For each layout that slides share, the places and levels without bullets.
_Layouts = dict[str, set[tuple[str, int]]]
# The names of numbers, as in `alphaLcPeriod` and `romanUcParenBoth`.
_FORMS = {"arabic": "decimal", "alphaLc": "a", "alphaUc": "A", "romanLc": "i", "romanUc": "I"}


@dataclass(frozen=True, slots=True)
class PptxLoader:
    """Reads PowerPoint files: titles, bullets, tables, diagrams and speaker notes."""

    name: str = "PPTX"
    suffixes: tuple[str, ...] = (".pptx", ".pptm", ".ppsx", ".ppsm", ".potx", ".potm")

    def claims(self, raw: Raw) -> bool:
        """Whether the suffix says so, or it is a ZIP archive with a presentation inside."""
        return raw.suffix in self.suffixes or holds_member(raw, _MAIN)

    def load(self, raw: Raw) -> Document:
        """A part for each slide, its number as shown; a title is a heading of level 1.

        Notes follow the slide's text in a part of their own. A slide that is not shown is
        there too, with ``hidden`` in the part's meta.
        """
        archive = open_archive(raw)
        path = main_part(archive, _MAIN)
        links = relations(archive, path)
        builder = Builder()
        layouts: _Layouts = {}
        root = read_main(archive, path, "p:presentation")
        first = whole_number(attribute(root, "firstSlideNum"), 1)
        for number, slide in enumerate(root.iter("p:sldId"), first):
            kind, member = links.get(relation_id(slide), ("", ""))
            if kind != "slide":
                raise LoadError(
                    f"{raw.name}: slide {number} is listed but not in the file; the file is "
                    "damaged, open it in its program and save it again"
                )
            _Slide(archive, member, builder, layouts).write(str(number))
        return builder.document(uri=raw.uri, media_type=_MEDIA_TYPE, meta=office_meta(archive))


class _Slide:
    """Writes one slide."""

    def __init__(self, archive: Archive, path: str, builder: Builder, layouts: _Layouts) -> None:
        self._archive = archive
        self._builder = builder
        self._root = read_xml(archive, path)
        self._links = relations(archive, path)
        self._unmarked: set[tuple[str, int]] = set()
        for kind, member in self._links.values():
            if kind == "slideLayout":
                if member not in layouts:
                    layouts[member] = _unmarked(read_xml(archive, member))
                self._unmarked |= layouts[member]

    def write(self, label: str) -> None:
        """Write the title, the shapes in their order, and the notes."""
        shapes = list(_shapes(self._root))
        titles = [shape for shape in shapes if _place(shape)[0] in _TITLES]
        hidden = attribute(self._root, "show", "1") in ("0", "false")
        meta = {"hidden": True} if hidden else {}
        self._builder.apart()
        with self._builder.part("slide", label, **meta):
            for shape in titles:
                texts = (_text(paragraph) for paragraph in shape.iter("a:p"))
                self._builder.heading(1, " ".join(texts))
            for shape in shapes:
                if _place(shape)[0] not in (*_TITLES, *_FURNITURE):
                    self._shape(shape)
            for kind, member in self._links.values():
                if kind == "notesSlide":
                    self._notes(member, label)

    def _notes(self, member: str, label: str) -> None:
        with self._builder.part("notes", label):
            for shape in _shapes(read_xml(self._archive, member)):
                if _place(shape)[0] in _BODIES and next(shape.iter("p:ph"), None) is not None:
                    for paragraph in shape.iter("a:p"):
                        self._builder.paragraph(_text(paragraph))

    def _shape(self, shape: Element) -> None:
        if shape.tag == "p:graphicFrame":
            for table in shape.iter("a:tbl"):
                rows = [row for row in table if row.tag == "a:tr"]
                self._builder.table(
                    [["\n".join(map(_text, cell.iter("a:p"))) for cell in row.iter("a:tc")]
                     for row in rows]
                )  # fmt: skip
            for diagram in shape.iter("dgm:relIds"):
                _, member = self._links.get(attribute(diagram, "dm"), ("", ""))
                if member in self._archive:
                    for point in read_xml(self._archive, member).iter("dgm:t"):
                        self._builder.item(" ".join(map(_text, point.iter("a:p"))))
            return
        kind, index = _place(shape)
        is_body = next(shape.iter("p:ph"), None) is not None and kind in _BODIES
        counts: dict[int, int] = {}
        for paragraph in shape.iter("a:p"):
            text = _text(paragraph)
            if not text.strip():
                continue
            settings = under(paragraph, "a:pPr")
            level = min(whole_number(attribute(settings, "lvl")), _LEVELS - 1)
            for deeper in [other for other in counts if other > level]:
                del counts[deeper]
            mark = self._mark(shape, settings, level, counts, is_body and index)
            if mark:
                self._builder.item(text, depth=level, mark=mark)
            else:
                self._builder.paragraph(text)

    def _mark(
        self,
        shape: Element,
        settings: Element | None,
        level: int,
        counts: dict[int, int],
        index: str | bool,
    ) -> str:
        """What stands before a paragraph: a bullet, a number, or nothing."""
        own = _list_style(shape, level)
        for place in (settings, own):
            if place is None:
                continue
            if under(place, "a:buNone") is not None:
                return ""
            numbered = under(place, "a:buAutoNum")
            if numbered is not None:
                form = attribute(numbered, "type")
                start = whole_number(attribute(numbered, "startAt"), 1)
                counts[level] = counts.get(level, start - 1) + 1
                named = next((ours for name, ours in _FORMS.items() if form.startswith(name)), "")
                return f"{numeral(counts[level], named)}{')' if 'Paren' in form else '.'} "
            if any(under(place, bullet) is not None for bullet in _BULLETS):
                counts.pop(level, None)
                return "- "
        counts.pop(level, None)
        # In a text placeholder bullets are the rule, and the layout says where there are none.
        return "- " if index is not False and (str(index), level) not in self._unmarked else ""


def _unmarked(layout: Element) -> set[tuple[str, int]]:
    """The places of a layout, and the levels in each, that have no bullets."""
    return {
        (_place(shape)[1], level)
        for shape in _shapes(layout)
        for level in range(_LEVELS)
        if under(_list_style(shape, level), "a:buNone") is not None
    }


def _shapes(parent: Element) -> Iterator[Element]:
    """The shapes with text and the tables, in their order, those in groups included."""
    for child in parent:
        if child.tag in ("p:sp", "p:graphicFrame", "p:cxnSp"):
            yield child
        elif child.tag not in ("mc:Fallback", "p:pic"):
            yield from _shapes(child)


def _place(shape: Element) -> tuple[str, str]:
    """The kind of placeholder a shape is, and its index; both empty without."""
    found = next(shape.iter("p:ph"), None)
    return attribute(found, "type"), attribute(found, "idx", "0") if found is not None else ""


def _list_style(shape: Element, level: int) -> Element | None:
    """The shape's own settings of the paragraphs of a level."""
    return under(next(shape.iter("a:lstStyle"), None), f"a:lvl{level + 1}pPr")


def _text(paragraph: Element) -> str:
    """The text of a paragraph."""
    pieces: list[str] = []
    waiting = [paragraph]
    while waiting:
        element = waiting.pop()
        if element.tag in ("a:t", "m:t"):
            pieces.append(element.text or "")
        elif element.tag == "a:br":
            pieces.append("\n")
        elif element.tag == "a:tab":
            pieces.append("\t")
        elif element.tag != "mc:Fallback":
            waiting.extend(reversed(element))
    return "".join(pieces)
