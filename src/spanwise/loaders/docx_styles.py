"""What the styles and settings of Word's paragraphs and runs say of headings, lists and hiding."""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree.ElementTree import Element

from spanwise.loaders.office import attribute, under, whole_number

__all__ = ["LEVELS", "Style", "Styles", "hiding", "settings_of"]

LEVELS = 9
_DEEPEST = 20


@dataclass(frozen=True, slots=True)
class Style:
    """What a paragraph style says of headings and lists, -1 and empty where it says nothing."""

    based: str
    outline: int
    list_id: str
    list_level: int
    depth: int  # of ``List Bullet 2``, whose own list has one level


class Styles:
    """The styles of a file: of its paragraphs, and which ones hide their text."""

    def __init__(self, root: Element | None = None) -> None:
        self._styles: dict[str, Style] = {}
        self._inherited: dict[str, Style] = {}
        self._hiding: dict[str, bool] = {}
        self._based: dict[str, str] = {}
        self._default = ""
        for style in root.iter("w:style") if root is not None else ():
            key = attribute(style, "styleId")
            hides = hiding(under(style, "w:rPr"))
            if hides is not None:
                self._hiding[key] = hides
            self._based[key] = attribute(under(style, "w:basedOn"), "val")
            if attribute(style, "type", "paragraph") != "paragraph":
                continue
            name = attribute(under(style, "w:name"), "val").lower()
            _, outline, list_id, level, _ = settings_of(under(style, "w:pPr"))
            if outline < 0:
                outline = _named_level(name, key)
            self._styles[key] = Style(self._based[key], outline, list_id, level, _named_depth(name))
            if attribute(style, "default") in ("1", "true", "on"):
                self._default = key

    def of(self, key: str) -> Style:
        """A style with what the styles it is based on say; without a key the usual one."""
        key = key or self._default
        style = self._inherited.get(key)
        if style is None:
            style = self._inherited[key] = self._inherit(key)
        return style

    def hides(self, key: str) -> bool:
        """Whether a style, or one it is based on, hides its text; without a key the usual one."""
        if self._hiding:
            key = key or self._default
            for _ in range(_DEEPEST):
                if key in self._hiding or key not in self._based:
                    return self._hiding.get(key, False)
                key = self._based[key]
        return False

    def _inherit(self, key: str) -> Style:
        outline = level = -1
        list_id, depth = "", 0
        for _ in range(_DEEPEST):  # a style may be based on itself
            style = self._styles.get(key)
            if style is None:
                outline = outline if outline >= 0 else _named_level("", key)
                break
            outline = outline if outline >= 0 else style.outline
            list_id = list_id or style.list_id
            level = level if level >= 0 else style.list_level
            depth = max(depth, style.depth)
            key = style.based
        return Style("", outline, list_id, level, depth)


def hiding(look: Element | None) -> bool | None:
    """Whether a look (``w:rPr``) hides text; None where it says nothing."""
    said = under(look, "w:vanish")
    return None if said is None else attribute(said, "val", "1") not in ("0", "false", "off")


def settings_of(settings: Element | None) -> tuple[str, int, str, int, Element | None]:
    """What settings say: style, outline level from 0, list, level in it, look of the end.

    Empty, -1 or None where they say nothing; an outline level of 9 is body text.
    """
    style, outline, list_id, level, ending = "", -1, "", -1, None
    if settings is None:
        return style, outline, list_id, level, ending
    for said in settings:
        tag = said.tag
        if tag == "w:pStyle":
            style = attribute(said, "val")
        elif tag == "w:outlineLvl":
            outline = whole_number(attribute(said, "val"), -1, most=LEVELS)
        elif tag == "w:numPr":
            list_id = attribute(under(said, "w:numId"), "val")
            level = whole_number(attribute(under(said, "w:ilvl"), "val"), -1)
        elif tag == "w:rPr":
            ending = said
    return style, outline, list_id, level, ending


def _named_level(name: str, key: str) -> int:
    """The outline level in the name of a style, or in its id where it has no name."""
    named = (name or key).lower().replace(" ", "")
    if named == "title":
        return 0
    if named.startswith("heading"):
        return whole_number(named[7:], 0, most=LEVELS) - 1
    return -1


def _named_depth(name: str) -> int:
    """How deep a style's name says its list is: 1 for ``List Bullet 2``."""
    begin, _, number = name.rpartition(" ")
    if begin in ("list bullet", "list number"):
        return max(0, whole_number(number, 1, most=LEVELS) - 1)
    return 0
