"""Write `spanwise/cutting/grapheme_table.py` from the files of the Unicode Character Database.

Usage: python scripts/make_grapheme_table.py [DIRECTORY]

DIRECTORY holds `auxiliary/GraphemeBreakProperty.txt`, `auxiliary/GraphemeBreakTest.txt` and
`emoji/emoji-data.txt`; without it, the one that Debian's package `unicode-data` installs. The
test vectors go to `tests/data/GraphemeBreakTest.txt.gz`, without their comments.
"""

import gzip
import re
import sys
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "src" / "spanwise" / "cutting" / "grapheme_table.py"
VECTORS = ROOT / "tests" / "data" / "GraphemeBreakTest.txt.gz"

# LV and LVT are told apart by arithmetic, CR and LF by their names: the table leaves them out.
CLASSES = {
    "CONTROL": "Control",
    "EXTEND": "Extend",
    "ZWJ": "ZWJ",
    "REGIONAL_INDICATOR": "Regional_Indicator",
    "PREPEND": "Prepend",
    "SPACING_MARK": "SpacingMark",
    "HANGUL_L": "L",
    "HANGUL_V": "V",
    "HANGUL_T": "T",
    "EXTENDED_PICTOGRAPHIC": "Extended_Pictographic",
}

HEADER = '''"""Characters that join with a neighbour, as ranges for a regular expression's class.

Written by scripts/make_grapheme_table.py from GraphemeBreakProperty.txt and emoji-data.txt of
Unicode {version}; do not edit. Not listed: CR, LF, and the Hangul syllables U+AC00-U+D7A3.
Unicode data files: see tests/data/NOTICE.md.
"""

UNICODE_VERSION = "{version}"
'''


def ranges_of(lines: Iterable[str], value: str) -> list[tuple[int, int]]:
    """The code points whose property has `value`, as sorted, merged, closed ranges."""
    row = re.compile(rf"([0-9A-F]+)(?:\.\.([0-9A-F]+))?\s*;\s*{value}\s*(?:#|$)")
    rows = [match.groups() for line in lines if (match := row.match(line))]
    merged: list[tuple[int, int]] = []
    for first, last in sorted((int(first, 16), int(last or first, 16)) for first, last in rows):
        if merged and merged[-1][1] + 1 == first:
            merged[-1] = (merged[-1][0], last)
        else:
            merged.append((first, last))
    return merged


def escaped(code: int) -> str:
    return f"\\U{code:08x}" if code > 0xFFFF else f"\\u{code:04x}"


def literal(ranges: list[tuple[int, int]]) -> str:
    """The ranges as the lines of a string literal in parentheses."""
    items = [escaped(a) if a == b else f"{escaped(a)}-{escaped(b)}" for a, b in ranges]
    lines = [""]
    for item in items:
        if len(lines[-1]) + len(item) > 90:
            lines.append("")
        lines[-1] += item
    return "(\n" + "".join(f'    "{line}"\n' for line in lines) + ")"


def main(directory: str = "/usr/share/unicode") -> None:
    source = Path(directory)
    breaks = (source / "auxiliary" / "GraphemeBreakProperty.txt").read_text("utf-8").splitlines()
    emoji = (source / "emoji" / "emoji-data.txt").read_text("utf-8").splitlines()
    vectors = (source / "auxiliary" / "GraphemeBreakTest.txt").read_text("utf-8").splitlines()

    version = breaks[0].removeprefix("# GraphemeBreakProperty-").removesuffix(".txt")
    if vectors[0] != f"# GraphemeBreakTest-{version}.txt":
        raise SystemExit(f"{vectors[0]} is not of version {version}; take both from one release")
    tables = {name: ranges_of(breaks + emoji, value) for name, value in CLASSES.items()}
    listed = sorted(pair for table in tables.values() for pair in table)
    for (_, last), (first, _) in pairwise(listed):
        if last >= first:
            raise SystemExit(f"U+{first:04X} is in two classes; the table needs them disjoint")

    body = "".join(f"{name} = {literal(table)}\n" for name, table in tables.items())
    TABLE.write_text(HEADER.format(version=version) + "\n" + body, "utf-8")
    rows = [line.split("#")[0].strip() for line in vectors]
    data = "".join(f"{row}\n" for row in [*vectors[:5], *filter(None, rows)])
    VECTORS.write_bytes(gzip.compress(data.encode("utf-8"), mtime=0))


if __name__ == "__main__":
    main(*sys.argv[1:2])
