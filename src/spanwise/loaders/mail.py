"""E-mail: one message, or a mailbox of many."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message
from email.parser import BytesFeedParser, BytesHeaderParser
from email.utils import parsedate_to_datetime
from types import MappingProxyType

from spanwise.documents import Document
from spanwise.errors import LoadError, shown
from spanwise.loaders.base import Raw
from spanwise.loaders.builder import Builder
from spanwise.loaders.html import write_html
from spanwise.loaders.html_encoding import declared_encoding
from spanwise.loaders.mail_words import asked, decoded_as, one_line, text_of, words
from spanwise.loaders.text import marked_encoding

__all__ = ["EmailLoader", "MboxLoader"]

EMAIL = "message/rfc822"
MBOX = "application/mbox"

_HTML = "text/html"
_BODIES = ("text/plain", _HTML)

_SHOWN = ("From", "To", "Cc", "Date")
_READ = ("Subject", "Message-ID", *_SHOWN)
_NO_SUBJECT = "(no subject)"
# A message inside a message inside a message: deeper ones are listed, not read.
_DEEPEST = 20
_DEEPEST_PARTS = 60

# Fields that only mail has, one of which begins every message that a server has seen.
_begins = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:Return-Path|Delivered-To|Received|MIME-Version|Message-ID"
    rb"|DKIM-Signature|X-Mozilla-Status|X-Envelope-From):[ \t]",
    re.I,
).match
_a_field = re.compile(rb"[!-9;-~]{1,76}[ \t]*:").match
_fields = re.compile(
    rb"^(?:From|To|Cc|Subject|Date|Sender|Reply-To|Message-ID|Received|Return-Path|Delivered-To"
    rb"|MIME-Version|Content-Type|X-[!-9;-~]{1,60})[ \t]*:",
    re.I | re.M,
)

# RFC 4155: a line `From `, an address and a date in the form of asctime. Some write the date in
# another form; then a header field on the next line must show what it is.
_from_line = re.compile(
    rb"From (?:(?<=\AFrom )|(?<=\n\nFrom )|(?<=\n\r\nFrom )|(?<=\r\rFrom ))"
    rb"[^\r\n]*(?:\r\n?|\n|\Z)"
)
_asctime = re.compile(
    rb"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? +(?:[A-Z][a-z]{2} +\d{1,2}|\d{1,2} +[A-Z][a-z]{2})"
    rb"[ ,]+\d{1,4}:?\d\d"
).search
_escaped = re.compile(rb"^>(>*From )", re.M)

_head_end = re.compile(rb"\n\n|\r\n\r\n|\r\r").search
_after_name = re.compile(r"[\s;(]")

# What is not read in place. A type that nobody knows is broken, and its part a text.
_FILES = ("application/", "audio/", "font/", "image/", "message/", "model/", "video/")

_TRANSFERS = ("base64", "quoted-printable", "x-uuencode", "uuencode", "uue", "x-uue")


@dataclass(frozen=True, slots=True)
class EmailLoader:
    """Reads one e-mail: its subject as heading, its fields, its text, its attached texts."""

    name: str = "e-mail"
    suffixes: tuple[str, ...] = (".eml",)

    def claims(self, raw: Raw) -> bool:
        """Whether it is an e-mail, by its suffix or a field that only mail has."""
        return raw.suffix in self.suffixes or (not raw.suffix and _begins(raw.data) is not None)

    def load(self, raw: Raw) -> Document:
        """The message; attached texts and messages follow as parts of kind ``attachment``.

        ``meta`` holds ``from``, ``to``, ``date`` (ISO 8601), ``subject``, ``message_id`` and the
        names of the ``attachments``. Plain text is preferred to HTML.
        """
        data = raw.data.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
        if not data or data.isspace():
            return Document(text="", uri=raw.uri, media_type=EMAIL)
        head_end = _head_end(data)
        if not _fields.search(data, 0, head_end.start() if head_end else len(data)):
            raise LoadError(
                f"{raw.name}: it begins with {shown(raw.data[:40])}, and no line of its head is "
                "a field such as 'From: '; load it as plain text"
            )
        message = _parsed(data)
        fields = _fields_of(message)
        writer = _Writer(raw.encoding)
        writer.write(message, fields)
        meta = {
            "from": fields["From"],
            "to": fields["To"],
            "date": _date(fields["Date"]),
            "subject": fields["Subject"],
            "message_id": fields["Message-ID"],
            "attachments": writer.attachments,
        }
        return writer.builder.document(uri=raw.uri, media_type=EMAIL, meta=MappingProxyType(meta))


@dataclass(frozen=True, slots=True)
class MboxLoader:
    """Reads a mailbox: each message is a part of kind ``message``, numbered from 1."""

    name: str = "mailbox"
    suffixes: tuple[str, ...] = (".mbox",)

    def claims(self, raw: Raw) -> bool:
        """Whether it is a mailbox, by its suffix or its first line."""
        if raw.suffix in self.suffixes:
            return True
        first = None if raw.suffix else _from_line.match(raw.data)
        return first is not None and _asctime(first.group()) is not None

    def load(self, raw: Raw) -> Document:
        """The messages in order, each written as `EmailLoader` writes it."""
        if raw.data.strip() and not _from_line.match(raw.data.lstrip(b"\r\n")):
            raise LoadError(
                f"{raw.name}: it begins with {shown(raw.data[:40])}, where a mailbox has a line "
                "'From ' and a sender; load a single message as .eml"
            )
        writer = _Writer(raw.encoding)
        for number, data in enumerate(_messages(raw.data.lstrip(b"\r\n")), 1):
            message = _parsed(data)
            fields = _fields_of(message)
            about = {"from": fields["From"], "date": _date(fields["Date"])}
            with writer.builder.part("message", str(number), **about):
                writer.write(message, fields)
        meta = {"attachments": writer.attachments} if writer.attachments else {}
        return writer.builder.document(uri=raw.uri, media_type=MBOX, meta=MappingProxyType(meta))


def _messages(data: bytes) -> Iterator[bytes]:
    """The messages of a mailbox without their `From ` lines, one at a time."""
    start = -1
    for line in _from_line.finditer(data):
        if start >= 0 and not _asctime(line.group()) and not _a_field(data, line.end()):
            continue  # a sentence that begins with From
        if start >= 0:
            yield _escaped.sub(rb"\1", data[start : line.start()])
        start = line.end()
    if start >= 0:
        yield _escaped.sub(rb"\1", data[start:])


def _parsed(data: bytes) -> Message:
    """The message in some bytes.

    By the parser's old policy: with the new one, asking for a broken header may raise. What is
    nested beyond what Python can follow is a message of its head and one text.
    """
    parser = BytesFeedParser()
    try:
        parser.feed(data)
        return parser.close()
    except RecursionError:
        return BytesHeaderParser().parsebytes(data)


class _Builder(Builder):
    """A builder whose headings lie below those of the message that holds them."""

    depth = 0

    def heading(self, level: int, text: str) -> int:
        """A heading below those of the messages around it."""
        return super().heading(level + self.depth, text)

    def note(self, kind: str, label: str, start: int, end: int, **meta: object) -> None:
        """Nothing: a line of an HTML text is no line of the file it was sent in."""


class _Writer:
    """Writes messages and gathers the names of what is attached."""

    def __init__(self, encoding: str) -> None:
        self.builder = _Builder()
        self.attachments: list[str] = []
        self._encoding = encoding

    def write(self, message: Message, fields: dict[str, str], depth: int = 0) -> None:
        """A message of which the fields are read, then what is attached to it."""
        builder = self.builder
        builder.depth = depth
        builder.heading(1, fields["Subject"] or _NO_SUBJECT)
        builder.paragraph("\n".join(f"{name}: {fields[name]}" for name in _SHOWN if fields[name]))
        builder.depth = depth + 1
        attached: list[Message] = []
        self._body(message, attached, 0)
        for part in attached:
            self._attachment(part, depth)

    def _body(self, part: Message, attached: list[Message], level: int) -> bool:
        """Write what a person reads first; whether there was any."""
        kind = _kind(part)
        is_file = kind.startswith(_FILES) or kind == "text/rtf"
        if is_file or (level and _is_attached(part, kind)) or level > _DEEPEST_PARTS:
            attached.append(part)
            return False
        if not kind.startswith("multipart/"):
            return self._text(part, kind)
        inner = _inner(part)
        if kind == "multipart/alternative":
            return self._best(inner, attached, level + 1)
        written = [self._body(each, attached, level + 1) for each in inner]
        return any(written)

    def _best(self, choices: list[Message], attached: list[Message], level: int) -> bool:
        """The first of several forms of the same text that has ink, plain text before others."""
        plain = [each for each in choices if each.get_content_type() == "text/plain"]
        others = [each for each in choices if each not in plain]
        written = False
        for each in [*plain, *others]:
            if not written:
                written = self._body(each, attached, level)
            else:
                # Of the forms left out, what hangs on them is still attached.
                attached.extend(inner for inner, kind in _inside(each) if _is_attached(inner, kind))
        return written

    def _text(self, part: Message, kind: str) -> bool:
        """Write a part that is text."""
        text = self._decoded(part)
        if not text.strip():
            return False
        if kind == _HTML:
            write_html(self.builder, text, lines=False)
        else:
            self.builder.paragraph(text)
        return True

    def _attachment(self, part: Message, depth: int) -> None:
        """List what is attached; write it when it is text or a message."""
        kind = part.get_content_type()
        inner = _inner(part)
        message = inner[0] if kind == EMAIL and inner else None
        fields = _fields_of(message) if message is not None else {}
        name = _file_name(part) or fields.get("Subject") or kind
        self.attachments.append(name)
        builder = self.builder
        if message is not None and depth < _DEEPEST:
            with builder.part("attachment", name):
                self.write(message, fields, depth + 1)
        elif kind.startswith("text/"):
            text = self._decoded(part)
            if text.strip():
                builder.depth = depth + 1
                with builder.part("attachment", name):
                    builder.heading(1, name)
                    if kind == _HTML:
                        write_html(builder, text, lines=False)
                    else:
                        builder.paragraph(text)

    def _decoded(self, part: Message) -> str:
        """The text of a part by its mark or charset; what that cannot read becomes U+FFFD."""
        # A comment or a blank after the name is a fault that the library does not forgive.
        written = _raw_field(part, "Content-Transfer-Encoding")
        transfer = _after_name.split(one_line(written), 1)[0].lower()
        if transfer != written and transfer in _TRANSFERS:
            part.replace_header("Content-Transfer-Encoding", transfer)
        data = asked(lambda: part.get_payload(decode=True), None)
        if not isinstance(data, bytes):
            return ""
        charset = asked(part.get_content_charset, None) or ""
        if not charset and part.get_content_type() == _HTML:
            charset = declared_encoding(data)
        mark = marked_encoding(data)
        text = decoded_as(data, mark) if mark else None
        if text is None:
            text = text_of(data, charset or self._encoding)
        return text.replace("\r\n", "\n").replace("\r", "\n")


def _kind(part: Message) -> str:
    """The type of a part as it is read."""
    kind = part.get_content_type()
    # What should hold parts but does not, as after a cut, is a text.
    is_text = kind.startswith(("multipart/", "message/")) and not part.is_multipart()
    return "text/plain" if is_text else kind


def _inner(part: Message) -> list[Message]:
    """The parts of a part."""
    payload = part.get_payload() if part.is_multipart() else []
    return [each for each in payload if isinstance(each, Message)]


def _inside(part: Message) -> Iterator[tuple[Message, str]]:
    """The part and all inside it, with their types, but for what is inside attached messages."""
    waiting = [part]
    while waiting:
        part = waiting.pop()
        kind = _kind(part)
        yield part, kind
        if kind.startswith("multipart/"):
            waiting.extend(reversed(_inner(part)))


def _is_attached(part: Message, kind: str) -> bool:
    """Whether a part of a type is a file rather than something to read in place."""
    disposition = asked(part.get_content_disposition, None)
    if disposition == "attachment":
        return True
    # Some mailers give a name to what is to be read in place.
    read = kind.startswith("multipart/") or (disposition == "inline" and kind in _BODIES)
    return not read and bool(_file_name(part))


def _file_name(part: Message) -> str:
    """The name of an attached file, encoded words read, without its folders."""
    is_named = False
    for key in ("Content-Disposition", "Content-Type"):
        value = _raw_field(part, key)
        if not value.isascii():  # the library would give every bare byte as U+FFFD
            value = words(value)
            part.replace_header(key, value)
        is_named = is_named or "name" in value.lower()
    name = words(asked(part.get_filename, None) or "") if is_named else ""
    return name.replace("\\", "/").rsplit("/", 1)[-1].strip()


def _fields_of(message: Message) -> dict[str, str]:
    """The fields of a message that are read; empty where it has none of the name."""
    written = {key.lower(): value for key, value in reversed([*message.raw_items()])}
    return {name: one_line(str(written.get(name.lower(), ""))) for name in _READ}


def _raw_field(message: Message, name: str) -> str:
    """The first header field of a name as it stands, or nothing."""
    fields = message.raw_items()
    return next((str(value) for key, value in fields if key.lower() == name.lower()), "")


def _date(written: str) -> str:
    """The date that a field says as ISO 8601, or empty."""
    return asked(lambda: parsedate_to_datetime(written).isoformat(), "")
