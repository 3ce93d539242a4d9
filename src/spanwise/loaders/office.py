"""What the office formats share: XML by short names, relations, and who wrote a file when."""

from __future__ import annotations

import posixpath
from collections.abc import Container, Iterable
from types import MappingProxyType
from xml.etree.ElementTree import Element

from spanwise.errors import LoadError, shown
from spanwise.loaders.archives import Archive, Target, feed_xml, parse_xml

__all__ = [
    "MOST_COLUMNS",
    "attribute",
    "holds_table",
    "inside",
    "main_part",
    "named_meta",
    "numeral",
    "office_meta",
    "read_main",
    "read_xml",
    "relation_id",
    "relations",
    "tell_xml",
    "under",
    "whole_number",
]

# A file may say that a cell spans a billion columns. Word ends at 63, Excel at 16,384.
MOST_COLUMNS = 1024

# So many members are kept as parsed while a file is read: slides share their layouts.
_KEPT = 64


def read_xml(archive: Archive, path: str) -> Element:
    """The root of an XML member, its tags renamed to ``w:p``, ``a:t``, ``text:h`` and so on."""
    kept = archive.kept.get(path)
    if kept is not None:
        return kept
    root = parse_xml(archive.read(path), _name_in(archive, path))
    names = archive.names
    for element in root.iter():
        element.tag = names[element.tag]
    if len(archive.kept) < _KEPT:
        archive.kept[path] = root
    return root


def tell_xml(archive: Archive, path: str, target: Target) -> None:
    """Tell a target of an XML member tag by tag, where its tree would be the most of the work."""
    feed_xml(archive.read(path), _name_in(archive, path), target)


def _name_in(archive: Archive, path: str) -> str:
    """What messages call a member."""
    return f"{archive.name}: {path} inside"


def read_main(archive: Archive, path: str, tag: str) -> Element:
    """The root of the member that a file is about; `LoadError` where it is of another kind."""
    root = read_xml(archive, path)
    if root.tag != tag:
        raise LoadError(
            f"{archive.name}: {path} inside holds {shown(root.tag)}, not {tag!r} as files of its "
            "suffix do; check the suffix"
        )
    return root


def inside(parent: Element, wanted: Container[str], skipped: Container[str]) -> list[Element]:
    """The wanted elements of one, through what only wraps them, not into what is skipped."""
    found: list[Element] = []
    for child in parent:
        tag = child.tag
        if tag in wanted:
            found.append(child)
        elif tag not in skipped:
            found += inside(child, wanted, skipped)
    return found


def holds_table(
    table: Element, cells: Iterable[Element], wanted: Container[str], skipped: Container[str]
) -> bool:
    """Whether a cell of a table holds another one as a block; see `inside`."""
    within = table.iter(table.tag)
    next(within)  # itself
    return next(within, None) is not None and any(
        block.tag == table.tag for cell in cells for block in inside(cell, wanted, skipped)
    )


def under(element: Element | None, *path: str) -> Element | None:
    """The first element at the end of a path of tags, each a child of the one before."""
    for tag in path:
        for child in element if element is not None else ():
            if child.tag == tag:
                element = child
                break
        else:
            return None
    return element


def attribute(element: Element | None, local: str, default: str = "") -> str:
    """The value of an attribute by its name without namespace; the default without element."""
    if element is None:
        return default
    for name, value in element.items():
        if name.endswith(local) and (name == local or name[-len(local) - 1] == "}"):
            return value
    return default


def relation_id(element: Element) -> str:
    """The id of the relation that an element names; a slide has an ``id`` of its own too."""
    found = (value for name, value in element.attrib.items() if name.endswith("relationships}id"))
    return next(found, "")


def whole_number(text: str, default: int = 0, *, most: int = 1 << 31) -> int:
    """The number a text says, within ``[0, most]``; the default for what is no number."""
    text = text.strip()
    if not text.isdigit() or not text.isascii():
        return default
    return min(int(text[:12]), most)


def relations(archive: Archive, path: str) -> dict[str, tuple[str, str]]:
    """For each relation of a part: its kind, such as ``slide``, and the member it leads to."""
    folder, name = posixpath.split(path)
    source = posixpath.join(folder, "_rels", f"{name}.rels")
    found: dict[str, tuple[str, str]] = {}
    if source in archive:
        for relation in read_xml(archive, source):
            target = attribute(relation, "Target")
            if attribute(relation, "TargetMode") == "External":
                continue
            kind = attribute(relation, "Type").rpartition("/")[2]
            member = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
            found[attribute(relation, "Id")] = (kind, member)
    return found


def main_part(archive: Archive, usual: str) -> str:
    """The member that an Office file begins with; the usual one where it says nothing."""
    for kind, member in relations(archive, "").values():
        if kind == "officeDocument":
            return member
    return usual


def office_meta(archive: Archive) -> dict[str, str]:
    """Title, author, and when it was made and changed, where the file says so."""
    path = next(
        (member for kind, member in relations(archive, "").values() if kind == "core-properties"),
        "",
    )
    return named_meta(
        read_xml(archive, path) if path else (),
        title="title",
        creator="author",
        created="created",
        modified="modified",
    )


def named_meta(elements: Iterable[Element], **names: str) -> dict[str, str]:
    """The texts of some elements, by what they are called here; a blank one is left out."""
    meta: dict[str, str] = {}
    for element in elements:
        key = names.get(element.tag.rpartition(":")[2].rpartition("}")[2].replace("-", "_"), "")
        text = " ".join((element.text or "").split())
        if key and text:
            meta.setdefault(key, text)
    return meta


_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l")),
    *((40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_FORMS = MappingProxyType(
    {"i": "lowerRoman", "I": "upperRoman", "a": "lowerLetter", "A": "upperLetter"}
)


def numeral(number: int, form: str) -> str:
    """A number as a list shows it, in Word's and OpenDocument's names of the forms.

    >>> [numeral(4, form) for form in ("decimal", "lowerRoman", "A")]
    ['4', 'iv', 'D']
    """
    form = _FORMS.get(form, form)
    text = str(number)
    if form.endswith("Roman") and 0 < number < 4000:
        text = ""
        for value, sign in _ROMAN:
            text += sign * (number // value)
            number %= value
    elif form.endswith("Letter") and 0 < number < 1000:
        text = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
    elif form == "decimalZero":
        text = f"{number:02d}"
    return text.upper() if form.startswith("upper") else text
