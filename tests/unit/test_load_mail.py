"""E-mail: subject, fields, text and attached texts in order; a mailbox is its messages."""

from __future__ import annotations

import base64
import mailbox
import random
from collections import Counter
from email.message import EmailMessage
from email.mime.application import MIMEApplication
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from email.policy import SMTP, default
from importlib.util import find_spec
from pathlib import Path

import pytest

from spanwise import Document, LoadError, by_paragraph, chunk, whole_document
from spanwise.loaders.base import Raw
from spanwise.loaders.mail import EmailLoader, MboxLoader

EMAIL, MBOX = EmailLoader(), MboxLoader()


def raw(data: bytes, suffix: str = ".eml", encoding: str = "") -> Raw:
    name = "a" + suffix
    return Raw(data=data, name=name, uri="kb/" + name, suffix=suffix, encoding=encoding)


def load(message: EmailMessage | MIMEMultipart | bytes) -> Document:
    data = message if isinstance(message, bytes) else message.as_bytes()
    return EMAIL.load(raw(data))


def letter(
    subject: str = "Größe der Schuhe 👟", text: str = "Hello,\n\n> quoted é\n\nBye\n"
) -> EmailMessage:
    message = EmailMessage()
    message["Subject"] = subject
    message["From"] = "Ana Müller <ana@example.com>"
    message["To"] = "Bo <bo@example.com>, c@example.com"
    message["Date"] = "Tue, 05 Mar 2024 10:11:12 +0100"
    message["Message-ID"] = "<1@example.com>"
    message.set_content(text)
    return message


HEAD = (
    "Größe der Schuhe 👟\n\nFrom: Ana Müller <ana@example.com>\n"
    "To: Bo <bo@example.com>, c@example.com\nDate: Tue, 05 Mar 2024 10:11:12 +0100"
)


@pytest.mark.parametrize("policy", [default, SMTP])
@pytest.mark.parametrize("cte", ["8bit", "base64", "quoted-printable"])
def test_a_message_is_subject_fields_and_text(policy: object, cte: str) -> None:
    message = letter()
    message.set_content("Hello,\n\n> quoted é\n\nBye\n", cte=cte)
    doc = load(message.as_bytes(policy=policy))  # type: ignore[arg-type]
    assert doc.text == HEAD + "\n\nHello,\n\n> quoted é\n\nBye"
    assert doc.media_type == "message/rfc822"
    assert doc.meta == {
        "from": "Ana Müller <ana@example.com>",
        "to": "Bo <bo@example.com>, c@example.com",
        "date": "2024-03-05T10:11:12+01:00",
        "subject": "Größe der Schuhe 👟",
        "message_id": "<1@example.com>",
        "attachments": [],
    }
    assert doc.outline.paths == [("Größe der Schuhe 👟",)]
    assert chunk(doc)[0].citation.endswith("Größe der Schuhe 👟")


def test_plain_text_is_preferred_to_html() -> None:
    message = letter()
    message.add_alternative("<h1>Hello</h1><p>in HTML</p>", subtype="html")
    assert load(message).text == HEAD + "\n\nHello,\n\n> quoted é\n\nBye"
    message = letter(text=" \n")
    message.add_alternative("<h1>Hello</h1><p>in <b>HTML</b></p>", subtype="html")
    doc = load(message)
    assert doc.text == HEAD + "\n\nHello\n\nin HTML"
    assert doc.outline.paths[-1] == ("Größe der Schuhe 👟", "Hello")
    assert doc.parts == ()


def test_attachments_are_listed_and_texts_included() -> None:
    inner = letter("Inner", "Inside.")
    inner.add_attachment("deep = 1", filename="deep.txt")
    message = letter()
    message.add_alternative("<p>no</p>", subtype="html")
    message.add_attachment(b"\x89PNG", maintype="image", subtype="png", filename="Bäume.png")
    message.add_attachment("note é\r\nnext", filename="../x/note.txt")
    message.add_attachment("a,b", subtype="csv", filename="t.csv")
    message.add_attachment(inner)
    message.add_attachment(b"\0\1", maintype="application", subtype="pdf")
    doc = load(message)
    assert doc.meta["attachments"] == [
        "Bäume.png",
        "note.txt",
        "t.csv",
        "Inner",
        "deep.txt",
        "application/pdf",
    ]
    ends = "Inside.\n\ndeep.txt\n\ndeep = 1"
    fields = HEAD.partition("\n\n")[2]
    after = f"note.txt\n\nnote é\nnext\n\nt.csv\n\na,b\n\nInner\n\n{fields}\n\n{ends}"
    assert doc.text == f"{HEAD}\n\nHello,\n\n> quoted é\n\nBye\n\n{after}"
    names = [[p.label for p in doc.locate(doc.text.index(s)).parts] for s in ("note é", "deep = 1")]
    assert names == [["note.txt"], ["Inner", "deep.txt"]]
    assert doc.locate(doc.text.index("deep = 1")).heading_path == (
        "Größe der Schuhe 👟",
        "Inner",
        "deep.txt",
    )


def test_a_passage_that_begins_in_the_message_does_not_cite_what_is_attached() -> None:
    """Fault: one that held both was cited as the attachment alone."""
    message = letter("Refund", "Five days.")
    message.add_attachment("Ten days.", filename="terms.txt")
    doc = load(message)
    assert whole_document().split(doc)[0].citation == "a.eml, Refund"
    at = doc.text.index("Ten days")
    assert by_paragraph(chunk_size=9, overlap=0).split(doc)[-1].places == ("attachment terms.txt",)
    assert doc.places_between(at, len(doc.text)) == ("attachment terms.txt",)


def test_texts_around_a_file_are_both_read() -> None:
    message = MIMEMultipart()
    message["Subject"] = "S"
    message.attach(MIMEText("before", "plain", "utf-8"))
    message.attach(MIMEApplication(b"x", name="x.bin"))
    message.attach(MIMEText("<p>after</p>", "html", "utf-8"))
    doc = load(message)
    assert doc.text == "S\n\nbefore\n\nafter"
    assert doc.meta["attachments"] == ["x.bin"]


@pytest.mark.parametrize(
    ("head", "body", "said"),
    [
        (
            b"Subject: =?iso-8859-1?Q?Gr=F6=DFe_?=\r\n =?utf-8?b?w6nD?= =?utf-8?b?qQ==?= x",
            b"b",
            "Größe éé x",
        ),
        (b"Subject: bare \xc3\xa9", b"b", "bare é"),
        (b"Subject: bare \xe9", b"b", "bare é"),
        (b"Subject: =?klingon?q?nuq=C3=A9?=", b"b", "nuqé"),
        (b"Subject: =?utf-8?b?A?=", b"b", "A"),
        (b"Subject: s\nContent-Type: text/plain; charset=klingon", b"caf\xc3\xa9", "café"),
        (
            b"Subject: s\nContent-Type: text/plain; charset=unicode_escape",
            b"caf\\q \xe9",
            "caf\\q é",
        ),
        (b"Subject: s\nContent-Type: text/plain; charset=us-ascii", b"caf\xe9", "café"),
        (b"Subject: s\nContent-Type: text/plain; charset=shift_jis", b"\x93\xfa\x96{", "日本"),
        (b"Subject: s\nContent-Type: text/plain; charset=utf-7", b"a +2AA- b", "a ? b"),
        (b"Subject: s\nContent-Transfer-Encoding: base64 (mime)", b"Y2Fmw6k", "café"),
        (b"Subject: s\nContent-Transfer-Encoding: base64", b"Y2!!!Fmw6\nk=", "café"),
        (b"Subject: s\nContent-Type: multipart/mixed", b"no boundary", "no boundary"),
        (b"Subject: s\nContent-Type: multipart/mixed; boundary=q", b"no parts", "no parts"),
        (b'Subject: s\nContent-Type: \xff/;;="', b"odd", "odd"),
        (b"Subject: s\nDate: Tue, 99 Foo 20x4 99:99 +9999999", b"odd", "odd"),
        (b"Subject: s\nthis is no field\nTo: x", b"odd", "odd"),
        (b"From: a@b.c", b"text", "(no subject)"),
    ],
)
def test_broken_mail_is_read_as_well_as_can_be(head: bytes, body: bytes, said: str) -> None:
    assert said in load(head + b"\n\n" + body).text


def test_a_file_name_in_any_dress() -> None:
    for field in (
        b"filename*=utf-8''B%C3%A4ume.txt",
        b'filename="=?utf-8?q?B=C3=A4ume.txt?="',
        b'filename="C:\\\\x\\\\B\xc3\xa4ume.txt"',
    ):
        head = b"Subject: s\nContent-Type: multipart/mixed; boundary=q\n\n--q\n"
        data = head + b"Content-Disposition: attachment; " + field + b"\n\nleaf\n--q--\n"
        doc = load(data)
        assert (doc.text, doc.meta["attachments"]) == ("s\n\nBäume.txt\n\nleaf", ["Bäume.txt"])


def test_deep_nesting_is_read_or_listed() -> None:
    for deep in (1500, 300, 70, 5):
        doc = load(b"Subject: s\nContent-Type: message/rfc822\n\n" * deep + b"Subject: e\n\nend")
        assert doc.text.endswith("e\n\nend") != (len(doc.meta["attachments"]) == 21)
    for deep in (3000, 300, 50, 5):
        nested = b"".join(
            b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (i, i) for i in range(deep)
        )
        doc = load(b"Subject: s\n" + nested + b"\nend")
        assert doc.text.endswith("end") != (doc.meta["attachments"] == ["multipart/mixed"])


def make_mbox(path: Path, messages: list[EmailMessage]) -> bytes:
    box = mailbox.mbox(path)
    for message in messages:
        box.add(message)
    box.close()
    return path.read_bytes()


def test_a_mailbox_is_its_messages(tmp_path: Path) -> None:
    texts = ["One.\n\nFrom here on\n\nFrom: no field\n", "Two.\nFrom the margin\n", "Three.\n"]
    messages = [letter(f"Subject {i}", text) for i, text in enumerate(texts, 1)]
    messages[1].add_attachment("leaf", filename="leaf.txt")
    data = make_mbox(tmp_path / "a.mbox", messages)
    for each in (data, data.replace(b"\n", b"\r\n")):
        doc = MBOX.load(raw(each, ".mbox"))
        assert doc.media_type == "application/mbox"
        parts = [part for part in doc.parts if part.kind == "message"]
        assert [part.label for part in parts] == ["1", "2", "3"]
        for part, text in zip(parts, texts, strict=True):
            written = doc.text[part.start : part.end]
            assert written.startswith(f"Subject {part.label}\n\nFrom: Ana")
            assert text.strip() in written
            assert part.meta["date"] == "2024-03-05T10:11:12+01:00"
        names = [(p.kind, p.label) for p in doc.locate(doc.text.index("leaf\n\nSubject 3")).parts]
        assert names == [("message", "2"), ("attachment", "leaf.txt")]
        assert doc.locate(doc.text.index("Three")).heading_path == ("Subject 3",)
        assert doc.meta == {"attachments": ["leaf.txt"]}
    assert chunk(doc)[-1].citation.startswith("a.mbox, message")


def test_a_sentence_that_begins_with_from_is_no_message() -> None:
    begin = b"From a@b Thu Jan  1 00:00:00 2024\nSubject: s\n\n"
    data = begin + b"one\n\nFrom now on, all is well.\nYes.\n\n" + begin + b"two"
    assert len(MBOX.load(raw(data, ".mbox")).parts) == 2
    data = b"From x 2024-01-01\nSubject: s\n\none\n\nFrom y 2024-01-02\nSubject: t\n\ntwo\n"
    assert MBOX.load(raw(data, ".mbox")).text == "s\n\none\n\nt\n\ntwo"


def test_what_they_claim() -> None:
    assert EMAIL.claims(raw(b"")) and MBOX.claims(raw(b"", ".mbox"))
    assert EMAIL.claims(raw(b"Received: x", "")) and not EMAIL.claims(raw(b"Received: x", ".txt"))
    assert not EMAIL.claims(raw(b"Subject: a note to self", ""))
    assert MBOX.claims(raw(b"From a@b Thu Jan  1 00:00:00 2024\n", ""))
    assert not MBOX.claims(raw(b"From here on, Thursday Jan was away\n", ""))


def test_empty_files_are_empty_documents() -> None:
    assert load(b"").text == load(b"\r\n").text == MBOX.load(raw(b"\n", ".mbox")).text == ""


@pytest.mark.parametrize(
    "data", [b"Just a text.\n\nSubject: no", b"%PDF-1.7\n\0", b"\0", b"\xff\xfeF\0"]
)
def test_what_is_no_mail_is_refused_by_name(data: bytes) -> None:
    with pytest.raises(LoadError, match=r"^a\.eml: it begins with"):
        EMAIL.load(raw(data))
    with pytest.raises(LoadError, match=r"^a\.mbox: it begins with"):
        MBOX.load(raw(data, ".mbox"))


def test_damage_is_an_error_or_a_document(tmp_path: Path) -> None:
    message = letter()
    message.add_alternative("<h1>H</h1><p>é</p>", subtype="html")
    message.add_attachment("note", filename="nöte.txt")
    message.add_attachment(letter("Inner"))
    data = make_mbox(tmp_path / "a.mbox", [message, letter()])
    source = random.Random(7)
    damaged = [data[:n] for n in range(0, len(data), 31)]
    for _ in range(400):
        flipped = bytearray(data)
        for _ in range(source.randint(1, 30)):
            flipped[source.randrange(len(data))] = source.randrange(256)
        damaged.append(bytes(flipped))
    for each in damaged:
        survives(each)


def survives(data: bytes) -> None:
    start = data.find(b"\n") + 1
    reads(MBOX, raw(data, ".mbox"))
    reads(EMAIL, raw(data[start:]))


def reads(loader: EmailLoader | MboxLoader, given: Raw) -> None:
    try:
        loader.load(given).text.encode()
    except LoadError as fault:
        assert str(fault).startswith(given.name)


def test_the_mail_that_python_is_tested_with() -> None:
    spec = find_spec("test")
    places = spec.submodule_search_locations if spec else []
    files = [f for place in places or [] for f in Path(place).glob("test_email/data/msg_*.txt")]
    if not files:
        pytest.skip("this Python came without its tests")
    for path in files:
        survives(b"From a@b Thu Jan  1 00:00:00 2024\n" + path.read_bytes())
    # Number 19 has no head.
    texts = {path.name: load(path.read_bytes()) for path in files if path.name != "msg_19.txt"}
    assert texts["msg_01.txt"].text.endswith("Hi,\n\nDo you like this message?\n\n-Me")
    assert texts["msg_07.txt"].meta["attachments"] == ["dingusfish.gif"]
    digest = texts["msg_02.txt"]
    assert Counter(part.kind for part in digest.parts) == {"attachment": 5}
    assert digest.locate(len(digest.text) - 1).heading_path[-1] == "[Ppp] testing #5"


def test_long_runs_of_anything_end() -> None:
    for run in (
        b"Subject: " + b"=?utf-8?q?a?= " * 10**5,
        b"To: " + b"a <b@c>, " * 10**5,
        b"Subject: s\nContent-Type: text/plain" + b"; a=b" * 10**4,
        b"Subject: s\nContent-Type: text/plain; charset=punycode\n\n" + b"a-" * 10**6,
        b"Subject: s\n\n" + b">" * 10**6,
        b"Subject: s\n\n" + b"\nFrom x\n" * 10**5,
        b"Subject: s\n" + b"X-A: b\n" * 10**4,
    ):
        survives(b"From a@b Thu Jan  1 00:00:00 2024\n" + run)


@pytest.mark.parametrize(
    ("charset", "text", "encoding"),
    [
        ("gb2312", "朱镕基", "gbk"),
        ("iso-8859-1", "“quoted” – €", "cp1252"),
        ("shift_jis", "①番 髙橋", "cp932"),
        ("ks_c_5601-1987", "똠방각하", "cp949"),
        ("us-ascii", "é", "utf-8"),
        ("iso-8859-15", "€", "iso-8859-15"),
    ],
)
def test_charsets_are_what_mailers_mean_by_their_names(
    charset: str, text: str, encoding: str
) -> None:
    head = f"From: a@x\nSubject: s\nContent-Type: text/plain; charset={charset}\n"
    data = f"{head}Content-Transfer-Encoding: 8bit\n\n".encode() + text.encode(encoding)
    assert load(data).text.endswith(text)


@pytest.mark.parametrize(
    ("charset", "text", "encoding"),
    [
        ("iso-8859-8-i", "שלום", "iso8859-8"),
        ("windows-874", "สวัสดี", "cp874"),
        ("x-sjis", "①番", "cp932"),
        ("x-gbk", "朱镕基", "gb18030"),
        ("x-mac-cyrillic", "Привет", "mac-cyrillic"),
        ("windows-949", "똠방각하", "cp949"),
        ("x-unknown", "Größe", "cp1252"),
        ("rot13", "Größe", "cp1252"),
        ("base64", "Größe", "cp1252"),
    ],
)
def test_charsets_that_python_does_not_know_are_read(
    charset: str, text: str, encoding: str
) -> None:
    """Fault: they were read as Windows' Western one, or not at all, in subjects too."""
    data = text.encode(encoding)
    word = f"=?{charset}?b?{base64.b64encode(data).decode()}?="
    head = f"From: a@x\nSubject: {word}\nContent-Type: text/plain; charset={charset}\n"
    doc = load(f"{head}Content-Transfer-Encoding: 8bit\n\n".encode() + data)
    assert (doc.meta["subject"], doc.text.split("\n\n")[-1]) == (text, text)


@pytest.mark.parametrize("charset", ["", "utf-8", "us-ascii", "iso-8859-1"])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be", "utf-32"])
def test_a_byte_order_mark_says_the_encoding_of_a_part(encoding: str, charset: str) -> None:
    """Fault: the mark stayed in the text, and UTF-16 came out as letters between NULs."""
    text = "Größe 灯台"
    data = (text if encoding != "utf-16-be" else f"\ufeff{text}").encode(encoding)
    message = letter("s", "a body")
    for kind in ("plain", "csv", "html"):
        message.add_attachment(data, "text", kind, filename=f"x.{kind}")
    for part in message.iter_attachments():
        if charset:
            part.set_param("charset", charset)
    assert load(message).text.split("\n\n")[-6:] == [
        *("x.plain", text, "x.csv", text, "x.html", text),
    ]


def test_a_byte_order_mark_that_is_wrong_is_read_as_the_charset() -> None:
    head = b"From: a@x\nSubject: s\nContent-Type: text/plain; charset=cp1252\n"
    data = head + b"Content-Transfer-Encoding: 8bit\n\n\xff\xfecaf\xe9s"
    assert load(data).text.endswith("\u00ff\u00fecafés")


def test_a_body_of_html_says_its_own_charset() -> None:
    head = b"From: a@x\nSubject: s\nContent-Type: text/html\nContent-Transfer-Encoding: 8bit\n\n"
    data = head + b"<meta charset=koi8-r><p>" + "Привет".encode("koi8-r")
    assert load(data).text.endswith("Привет")


def test_a_named_body_in_place_is_read_and_every_text_attached() -> None:
    message = EmailMessage()
    message["Subject"] = "s"
    message.make_mixed()
    body = EmailMessage()
    body.set_content("<p>The whole message.</p>", subtype="html")
    body["Content-Disposition"] = 'inline; filename="mail.html"'
    message.attach(body)
    for kind, text in (("csv", "a,b"), ("html", "<p>in HTML</p>"), ("markdown", "# M")):
        message.add_attachment(text, subtype=kind, filename=f"x.{kind}")
    doc = load(message)
    assert doc.text.split("\n\n") == [
        *("s", "The whole message.", "x.csv", "a,b", "x.html", "in HTML", "x.markdown", "# M"),
    ]
    assert doc.meta["attachments"] == ["x.csv", "x.html", "x.markdown"]
