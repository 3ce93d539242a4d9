"""Parts of a Word file that are in another format: which one it is."""

from __future__ import annotations

from spanwise.loaders.archives import Archive
from spanwise.loaders.office import attribute, read_xml

__all__ = ["form_of"]

_TYPES = "[Content_Types].xml"
_FORMS = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/plain": "text",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".txt": "text",
}


def form_of(archive: Archive, path: str, data: bytes) -> str:
    """What a part is: ``word``, ``html``, ``text``, or nothing for what is not read.

    By its bytes, by the type that the file says it has, else by its suffix.
    """
    if data.startswith(b"PK\x03\x04"):
        return "word"
    suffix = "." + path.rpartition(".")[2].lower()
    said = ""
    for entry in read_xml(archive, _TYPES) if _TYPES in archive else ():
        kind = attribute(entry, "ContentType").partition(";")[0].strip().lower()
        if attribute(entry, "PartName").lower() == f"/{path}".lower():
            said = kind
            break
        if f".{attribute(entry, 'Extension')}".lower() == suffix:
            said = kind
    return _FORMS.get(said or suffix, "")
