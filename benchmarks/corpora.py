"""Texts for the benchmarks: real prose, real Markdown and hostile inputs, all without a network.

Prose comes from `../shared/quality/chroma-mini` when it is there, else from the prose paragraphs
of the Markdown files. Markdown comes from the repository's own corpus, from `docs-mini`, from the
long descriptions of installed packages and from documents that lie under the folders of
`_FOLDERS`. Shuffling is seeded, so one machine gives the same text every time.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import random
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

_REPO = Path(__file__).resolve().parents[1]
_DATA = _REPO / "tests" / "data"
_SHARED = _REPO.parent / "shared" / "quality"
_FOLDERS = (
    "/usr/share/doc/nodejs",
    "/usr/lib/node_modules",
    "/usr/local/lib/node_modules",
)
_SEED = 7

# No file stands for more of a joined text than this many characters (as in PEERS.md).
_MOST = 60_000

# Where a paragraph of Markdown begins with one of these it is no prose.
_NO_PROSE = ("#", "|", "-", "*", "+", ">", "<", "`", "~", "[", "!", "=", " ", "\t")


def fresh(text: str) -> str:
    """The same text as a new object: peers keep the UTF-8 of a string they have seen."""
    return text[:-1] + text[-1:]


def megabytes(text: str) -> float:
    """The size in million bytes of UTF-8; never called on a text that is timed later."""
    return len(text.encode("utf-8", "surrogatepass")) / 1e6


def repo_markdown() -> list[tuple[str, str]]:
    """Name and text of every file in the repository's Markdown corpus."""
    with lzma.open(_DATA / "markdown_corpus.jsonl.xz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [(row["name"], row["text"]) for row in rows]


@cache
def markdown_files() -> tuple[tuple[str, str], ...]:
    """Name and text of every Markdown file found, without doubles, in an order of their own."""
    found: dict[str, tuple[str, str]] = {}
    for name, text in _all_markdown():
        if text.strip():
            # The repository's copies are cut after 60,000 characters: the whole file wins.
            key = hashlib.sha256(text[:1500].encode("utf-8", "surrogatepass")).hexdigest()
            if key not in found or len(found[key][1]) < len(text):
                found[key] = (name, text)
    return tuple(found[key] for key in sorted(found))


def _all_markdown() -> Iterator[tuple[str, str]]:
    yield from repo_markdown()
    docs = _SHARED / "docs-mini" / "docs.jsonl"
    if docs.exists():
        for line in docs.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            yield f"docs-mini {row['id']}", row["text"]
    for folder in dict.fromkeys(sys.path):
        for path in sorted(Path(folder or ".").glob("*.dist-info/METADATA")):
            head, _, body = path.read_text(encoding="utf-8", errors="replace").partition("\n\n")
            if "Description-Content-Type: text/markdown" in head:
                yield path.parent.name, body
    for folder in _FOLDERS:
        for path in sorted(Path(folder).rglob("*.md")):
            yield str(path), path.read_bytes().decode("utf-8", "replace")


@cache
def _prose_paragraphs() -> tuple[str, ...]:
    docs = _SHARED / "chroma-mini" / "docs.jsonl"
    if docs.exists():
        rows = [json.loads(line) for line in docs.read_text(encoding="utf-8").splitlines()]
        parts = [part for row in rows for part in row["text"].split("\n\n")]
    else:
        parts = [
            part
            for _, text in markdown_files()
            for part in text.replace("\r\n", "\n").split("\n\n")
            if not part.startswith(_NO_PROSE) and part.count(" ") > 8
        ]
    return tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))


def _repeated(parts: list[str], mb: float, seed: int) -> str:
    """Parts in a seeded order, again and again, joined by blank lines, about ``mb`` large."""
    order, made, left = random.Random(seed), [], mb * 1e6
    sizes = {part: len(part.encode("utf-8", "surrogatepass")) + 2 for part in parts}
    while left > 0:
        order.shuffle(parts)
        for part in parts:
            made.append(part)
            left -= sizes[part]
            if left <= 0:
                break
    whole = "\n\n".join(made)
    # A last part may be far too large; a byte is at most one code point.
    return whole[: len(whole) + int(left)] if left < -mb * 2e4 else whole


def prose(mb: float, seed: int = _SEED) -> str:
    """About ``mb`` million bytes of shuffled paragraphs."""
    return _repeated(list(_prose_paragraphs()), mb, seed)


def markdown(mb: float, seed: int = _SEED) -> str:
    """About ``mb`` million bytes of shuffled Markdown files."""
    return _repeated([_opening(text.strip("\n")) for _, text in markdown_files()], mb, seed)


def _opening(text: str) -> str:
    """The first lines of a file, at most `_MOST` characters."""
    return text if len(text) <= _MOST else text[: text.rfind("\n", 0, _MOST) + 1]


def crlf(text: str) -> str:
    """The text with CRLF for every line end."""
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


_TABLE_HEAD = "| name | value | note |\n|------|-------|------|\n"

# Each makes a text of about `n` characters; the number is the size that the issue names.
HOSTILE: dict[str, tuple[int, Callable[[int], str]]] = {
    "no spaces": (2_000_000, lambda n: "x" * n),
    "word word": (2_000_000, lambda n: "word " * (n // 5)),
    "blank lines": (300_000, lambda n: "\n" * n),
    "blank lines between words": (900_000, lambda n: "a" + "\n" * n + "b"),
    "headings": (1_200_000, lambda n: "".join(f"# h{i:06d}\n\n" for i in range(n // 12))),
    "deep headings": (1_300_000, lambda n: "".join(f"## h{i:06d}\n\n" for i in range(n // 13))),
    "headings with text": (
        2_400_000,
        lambda n: "".join(f"### h{i:06d}\n\nSome text.\n" for i in range(n // 24)),
    ),
    "open fence": (1_200_000, lambda n: "```\n" + "code line\n" * (n // 10)),
    "open fence, one line": (1_200_000, lambda n: "```\n" + "c" * n),
    "dots": (1_000_000, lambda n: "." * n),
    "dots and spaces": (1_000_000, lambda n: ". " * (n // 2)),
    "joined emoji": (1_000_000, lambda n: "\U0001f469\u200d\U0001f4bb" * (n // 3)),
    "one joined emoji": (300_000, lambda n: "\U0001f469" + "\u200d\U0001f4bb" * (n // 2)),
    "flags": (300_000, lambda n: "\U0001f1e9\U0001f1ea" * (n // 2)),
    "combining marks": (1_000_000, lambda n: ("a" + "\u0301" * 9) * (n // 10)),
    "one letter, all marks": (300_000, lambda n: "a" + "\u0301" * n),
    "table": (
        1_100_000,
        lambda n: _TABLE_HEAD + "".join(f"| a{i:06d} | 1 | some note |\n" for i in range(n // 27)),
    ),
    "list": (1_000_000, lambda n: "- item of a list\n" * (n // 17)),
    "quote marks": (300_000, lambda n: "> " * (n // 2)),
    "quoted lines": (1_000_000, lambda n: "> quoted line\n" * (n // 14)),
    "html open": (1_000_000, lambda n: "<!-- open\n" + "text in a comment\n" * (n // 18)),
    "tag openings": (300_000, lambda n: "<a\n" * (n // 3)),
    "fence openings": (300_000, lambda n: "``` `\n" * (n // 6)),
    "brackets": (300_000, lambda n: "[" * n),
    "underlines": (300_000, lambda n: "- - x\n===\n" * (n // 10)),
    "chinese": (1_000_000, lambda n: "这是一个没有空格的句子，它很长。" * (n // 16)),
    "chinese, no marks": (1_000_000, lambda n: "中文没有空格" * (n // 6)),
    "thai": (1_000_000, lambda n: "ภาษาไทยไม่มีช่องว่าง" * (n // 20)),
    "form feeds": (300_000, lambda n: "p\f" * (n // 2)),
    "carriage returns": (300_000, lambda n: "line\r" * (n // 5)),
    "surrogates": (300_000, lambda n: "\ud800 " * (n // 2)),
}
for _name in ("blank lines between words", "headings", "open fence", "table", "list"):
    _size, _make = HOSTILE[_name]
    HOSTILE[f"{_name}, CRLF"] = (_size, lambda n, make=_make: crlf(make(n)))
del _name, _size, _make


def main() -> None:
    """Say what was found."""
    files = markdown_files()
    sizes = [megabytes(text) for _, text in files]
    large = sum(0.015 <= size <= 0.12 for size in sizes)
    print(f"{len(files)} Markdown files, {sum(sizes):.2f} MB, {large} of 15 to 120 kB")
    parts = _prose_paragraphs()
    print(f"{len(parts)} paragraphs of prose, {sum(map(megabytes, parts)):.2f} MB")
    for kind, make in (("prose", prose), ("Markdown", markdown)):
        for mb in (0.2, 8):
            text = make(mb)
            print(f"{kind} {mb} MB: {megabytes(text):.3f} MB, {len(text)} characters")


if __name__ == "__main__":
    main()
