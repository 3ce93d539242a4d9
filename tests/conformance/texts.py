"""What the models are fuzzed with: the hostile alphabet, and lines that make many pieces."""

from __future__ import annotations

from hostile import hostile
from hypothesis import strategies as st

LINES = [
    "One. ", "two ", "Three! ", "four, ", "five\n", "\n", "\n\n", "# A\n", "# B\n\n", "## C\n",
    "### D\n\n", "x" * 9, "  ", "- item\n", "  - inner\n", "    code\n", "```\n", "~~~\n",
    "| a | b |\n|---|---|\n", "| 1 | 2 |\n", "---\nk: v\n---\n", "\r\n", "\f", "E\n=\n",
    "今天。", "e\u0301",
]  # fmt: skip

lines = st.lists(st.sampled_from(LINES), max_size=60).map("".join)
texts = st.one_of(hostile, lines)
