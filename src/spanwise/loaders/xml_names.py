"""Short names of the tags of office files: ``w:p`` for the one in either of its namespaces."""

from __future__ import annotations

import re

__all__ = ["ShortNames"]

# Short names of the namespaces, transitional and strict ones alike; an unknown one is dropped.
_OOXML = "http://schemas.openxmlformats.org/"
_STRICT = "http://purl.oclc.org/ooxml/"
_ODF = "urn:oasis:names:tc:opendocument:xmlns:"
_SHORT = {
    "wordprocessingml": "w",
    "drawingml": "a",
    "presentationml": "p",
    "spreadsheetml": "x",
    "officeDocument/2006/math": "m",
    "officeDocument/math": "m",
    "markup-compatibility": "mc",
}
_DIAGRAM = "diagram"
_TAG = re.compile(r"\{([^}]*)\}(.*)", re.DOTALL)


class ShortNames(dict[str, str]):
    """The short names of tags, each worked out once."""

    def __missing__(self, tag: str) -> str:
        self[tag] = name = _short(tag)
        return name


def _short(tag: str) -> str:
    """The short name of a tag."""
    found = _TAG.fullmatch(tag)
    if not found:
        return tag
    space, local = found.groups()
    if space.startswith(_ODF):
        return f"{space[len(_ODF) :].partition(':')[0]}:{local}"
    for base in (_OOXML, _STRICT):
        if space.startswith(base):
            rest = space[len(base) :]
            if _DIAGRAM in rest:
                return f"dgm:{local}"
            for begin, prefix in _SHORT.items():
                if rest.startswith(begin):
                    return f"{prefix}:{local}"
    return local
