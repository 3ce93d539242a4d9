"""Every loader of this library, in the order in which they are asked."""

from __future__ import annotations

from spanwise.loaders.base import Loader
from spanwise.loaders.code import CodeLoader
from spanwise.loaders.docx import DocxLoader
from spanwise.loaders.epub import EpubLoader
from spanwise.loaders.folders import find_files
from spanwise.loaders.html import HtmlLoader
from spanwise.loaders.isolation import isolated
from spanwise.loaders.mail import EmailLoader, MboxLoader
from spanwise.loaders.notebooks import NotebookLoader
from spanwise.loaders.odt import OdtLoader
from spanwise.loaders.pdf import PdfLoader
from spanwise.loaders.plain import TextLoader
from spanwise.loaders.records import CsvLoader, JsonLinesLoader, JsonLoader, LogLoader
from spanwise.loaders.rtf import RtfLoader
from spanwise.loaders.sheets import XlsxLoader
from spanwise.loaders.slides import PptxLoader
from spanwise.loaders.subtitles import SubRipLoader, WebVttLoader
from spanwise.loaders.transcripts import TranscriptLoader

__all__ = ["LOADERS", "PLAIN", "SUFFIXES", "find_files", "isolated"]

LOADERS: tuple[Loader, ...] = (
    PdfLoader(),
    DocxLoader(),
    PptxLoader(),
    XlsxLoader(),
    OdtLoader(),
    RtfLoader(),
    EpubLoader(),
    HtmlLoader(),
    NotebookLoader(),
    SubRipLoader(),
    WebVttLoader(),
    EmailLoader(),
    MboxLoader(),
    CsvLoader(),
    JsonLinesLoader(),
    JsonLoader(),
    LogLoader(),
    CodeLoader(),
    TranscriptLoader(),
    TextLoader(),
)

# What a folder is searched for. A file that is named is read whatever its suffix.
SUFFIXES = tuple(sorted({suffix for loader in LOADERS for suffix in loader.suffixes}))

# Those that read the file's own text and cannot be made to do much more.
PLAIN = (
    *(CsvLoader, JsonLinesLoader, JsonLoader, LogLoader, SubRipLoader),
    *(TextLoader, TranscriptLoader, WebVttLoader),
)
