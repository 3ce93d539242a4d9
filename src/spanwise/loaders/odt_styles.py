"""What the styles of an OpenDocument text say of chapters and hiding."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from spanwise.loaders.office import attribute, under

__all__ = ["OUTLINE", "Styles"]

# What the numbers of chapters are called among the lists.
OUTLINE = "Outline"

_DEEPEST = 20

# What a style of a family is for.
_STYLED = {"paragraph": ("text:p", "text:h"), "text": ("text:span",)}


class Styles:
    """The styles of a file, by family and name."""

    def __init__(self) -> None:
        self._styles: dict[tuple[str, str], Element] = {}

    def add(self, style: Element) -> None:
        """Add a style; a later one with its name stands for it."""
        self._styles[attribute(style, "family"), attribute(style, "name")] = style

    def is_plain(self, name: str) -> bool:
        """Whether the style of a heading, or one it is based on, says that it has no number."""
        for style in self._based("paragraph", name):
            said = attribute(style, "list-style-name", OUTLINE)
            if said != OUTLINE:
                return not said
        return False

    def drop_hidden(self, root: Element) -> None:
        """Empty the sections that are hidden, and what its style hides."""
        for section in root.iter("text:section"):
            if attribute(section, "display") == "none" or attribute(section, "is-hidden") == "true":
                _empty(section)
        hidden = {key for key in self._styles if self._hides(*key)}
        for family, tags in _STYLED.items() if hidden else ():
            for element in (each for tag in tags for each in root.iter(tag)):
                if (family, attribute(element, "style-name")) in hidden:
                    _empty(element)

    def _hides(self, family: str, name: str) -> bool:
        """Whether a style, or the nearest one it is based on that says so, hides its text."""
        for style in self._based(family, name):
            said = attribute(under(style, "style:text-properties"), "display")
            if said:
                return said == "none"
        return False

    def _based(self, family: str, name: str) -> Iterator[Element]:
        """A style and those that it is based on."""
        for _ in range(_DEEPEST):  # a style may be based on itself
            style = self._styles.get((family, name))
            if style is None:
                return
            yield style
            name = attribute(style, "parent-style-name")


def _empty(element: Element) -> None:
    """Leave nothing of an element but its place."""
    after = element.tail
    element.clear()
    element.tail = after
