"""Texts that break chunkers: the hostile alphabet, as Hypothesis strategies."""

from __future__ import annotations

from hypothesis import strategies as st

PIECES = [
    "a", "b", "word", "Dr.", "One. ", "Two! ", "three", " ", "  ", "\n", "\n\n", "\n \n", "\t",
    "\r\n", "\r", "\r\n\r\n", "\ufeff", "\x00", "\f", "\u0301", "e\u0301", " \u0301", "\u200d",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467", "\U0001f44b\U0001f3fb", "\U0001f1eb\U0001f1ee",
    "\U0001f1eb", "\ud800", "\udc00", "\U0001f600", "\u05d0\u05d1", "\u0627\u0644\u061f ",
    "\u4eca\u5929\u3002", "\u6f22\u5b57", "\u0e01\u0e33", "\u0600", "\u0915\u094d\u0937", "\u0964 ",
    "\u3000", "\u00a0", "\x85", "\u2028", "\x1c", "\uac00\u11a8",
    "# A\n", "## B\n\n", "# \n", "#x\n", "Title\n===\n", "Sub\n---\n", "```\n",
    "```py\nx = 1\n```\n",
    "~~~\n", "    code\n", "- item\n", "1. one\n", "> quote\n", "| a | b |\n|---|---|\n| 1 | 2 |\n",
    "<div>\n", "<!-- ", "-->\n", "---\n", "---\nk: v\n---\n", "[x](y)", ", ", "; ", "x" * 30,
]  # fmt: skip

texts = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
letters = st.text(alphabet="ab .\n", max_size=60)
long_words = st.integers(0, 200).map(lambda n: "w" * n)
hostile = st.one_of(
    texts,
    letters,
    st.text(max_size=60),
    st.tuples(texts, long_words, texts).map("".join),
)
