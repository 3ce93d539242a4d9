"""Patterns of paths as `.gitignore` files write them, and which paths they match."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from spanwise.errors import OptionError, shown

__all__ = ["Rule", "compile_rule", "last_match", "read_rules"]

# What `[[:name:]]` stands for, in ASCII as in git.
_CLASSES = {
    "alnum": "09AZaz",
    "alpha": "AZaz",
    "blank": "\t\t  ",
    "cntrl": "\0\x1f\x7f\x7f",
    "digit": "09",
    "graph": "!~",
    "lower": "az",
    "print": " ~",
    "punct": "!/:@[`{~",
    "space": "\t\r  ",
    "upper": "AZ",
    "xdigit": "09AFaf",
}

# A part of a pattern: what one name must match, or None for any number of names.
_Part = re.Pattern[str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One pattern. ``parts`` are matched with the names of a path, or the only one with its last.

    ``place`` is set where the last part is only stars, so it says where and not what; without
    ``dots`` a name that begins with a dot is matched by a part that begins with one alone.
    """

    parts: tuple[_Part, ...]
    anchored: bool
    folders_only: bool
    negated: bool
    place: bool
    dots: bool

    def fits(self, names: Sequence[str], is_folder: bool) -> bool:
        """Whether the pattern matches this path itself, not only a folder above it."""
        if self.folders_only and not is_folder:
            return False
        if not self.anchored:
            return self._matches(names[-1]) and self._may_lead(names[:-1])
        return len(self.parts) in self._states(names)

    def leads(self, names: Sequence[str]) -> bool:
        """Whether the pattern can match a path below this folder."""
        if not self.anchored:
            return self._may_lead(names)
        return any(state < len(self.parts) for state in self._states(names))

    def _matches(self, name: str) -> bool:
        """Whether the only part matches a name."""
        part = self.parts[0]
        return part is not None and part.fullmatch(name) is not None

    def _may_lead(self, names: Sequence[str]) -> bool:
        """Whether folders are open to the only part: no dot but one it matches itself."""
        return self.dots or all(self._matches(name) for name in names if name.startswith("."))

    def _states(self, names: Sequence[str]) -> set[int]:
        """How many parts may be used up by the names; sets, so no pattern takes long."""
        states = self._skipped({0})
        for name in names:
            after = set()
            for state in states:
                if state == len(self.parts):
                    continue
                part = self.parts[state]
                if part is None:
                    if self.dots or not name.startswith("."):
                        after.add(state)
                elif part.fullmatch(name):
                    after.add(state + 1)
            states = self._skipped(after)
            if not states:
                break
        return states

    def _skipped(self, states: set[int]) -> set[int]:
        """The states, and those behind each ``**`` that stands for no name."""
        for i, part in enumerate(self.parts):
            if part is None and i in states:
                states.add(i + 1)
        return states


def read_rules(text: str) -> tuple[Rule, ...]:
    r"""The patterns of a `.gitignore` file, in order; comments and what never matches left out.

    Names are matched character by character; git counts bytes, so give both as Latin-1.
    Source: gitignore(5), and ``dir.c`` and ``wildmatch.c`` of git.

    >>> [rule.negated for rule in read_rules("# kept\n*.log\n!keep.log\n")]
    [False, True]
    """
    rules = []
    for line in text.removeprefix("\xef\xbb\xbf").split("\n"):
        if not line.startswith("#"):
            rule = _rule(_trimmed(line.removesuffix("\r")), dots=True)
            if rule is not None:
                rules.append(rule)
    return tuple(rules)


def compile_rule(pattern: str, *, option: str, dots: bool) -> Rule:
    """A pattern that a person gave as an option; `OptionError` for one that never matches."""
    rule = _rule(pattern, dots=dots)
    if rule is None:
        raise OptionError(
            f"{option} has the pattern {shown(pattern)}, which matches no path; write it as in a "
            ".gitignore file, such as *.md or docs/**, with each [ closed"
        )
    return rule


def last_match(rules: Sequence[Rule], names: Sequence[str], is_folder: bool) -> Rule | None:
    """The last of the rules that matches a path, which is the one that holds; or None."""
    return next((rule for rule in reversed(rules) if rule.fits(names, is_folder)), None)


def _trimmed(line: str) -> str:
    """A line without the spaces at its end, but for one behind a backslash."""
    bare = line.rstrip(" ")
    slashes = len(bare) - len(bare.rstrip("\\"))
    return bare + " " if slashes % 2 and len(bare) < len(line) else bare


def _rule(pattern: str, *, dots: bool) -> Rule | None:
    """The rule of a pattern, or None for one that matches nothing."""
    negated = pattern.startswith("!")
    pattern = pattern[negated:]
    folders_only = pattern.endswith("/")
    pattern = pattern[: len(pattern) - folders_only]
    anchored = "/" in pattern
    pattern = pattern[pattern.startswith("/") :]
    segments = _segments(pattern) if pattern else None
    if segments is None or [] in segments:
        return None
    parts: list[_Part] = []
    for i, segment in enumerate(segments):
        double = anchored and len(segment) > 1 and set(segment) == {"*"}
        if double and i < len(segments) - 1:
            parts.append(None)
        else:
            parts.append(_compiled(segment, dots))
            # At the end, ** is whatever lies inside: one name and more.
            parts += [None] if double else []
    return Rule(
        parts=tuple(parts),
        anchored=anchored,
        folders_only=folders_only,
        negated=negated,
        place=set(segments[-1]) == {"*"},
        dots=dots,
    )


def _segments(pattern: str) -> list[list[str]] | None:
    """The pattern cut at its slashes, each piece as stars and regular expressions of one character.

    None where a bracket is not closed or nothing follows a backslash.
    """
    segments: list[list[str]] = [[]]
    at = 0
    while at < len(pattern):
        char = pattern[at]
        if char == "[":
            found = _bracket(pattern, at + 1)
            if found is None:
                return None
            token, at = found
            segments[-1].append(token)
            continue
        if char == "\\":
            at += 1
            if at == len(pattern):
                return None
            char = pattern[at]
            token = re.escape(char)
        else:
            token = {"*": "*", "?": "."}.get(char) or re.escape(char)
        if char == "/":
            segments.append([])
        else:
            segments[-1].append(token)
        at += 1
    return segments


def _bracket(pattern: str, at: int) -> tuple[str, int] | None:
    """The expression of a set of characters, and where it ends; None if it is not closed."""
    negated = pattern[at : at + 1] in ("!", "^")
    at += negated
    ranges: list[tuple[str, str]] = []
    before = ""  # what a range may begin with
    first = True
    while first or pattern[at : at + 1] != "]":
        first = False
        char = pattern[at : at + 1]
        if char == "-" and before and pattern[at + 1 : at + 2] not in ("", "]"):
            at += 1 + (pattern[at + 1] == "\\")
            ranges.append((before, pattern[at : at + 1]))
            before = ""
        elif pattern.startswith("[:", at) and (end := pattern.find("]", at + 2)) > at + 2:
            if pattern[end - 1] == ":":
                pairs = _CLASSES.get(pattern[at + 2 : end - 1])
                if pairs is None:
                    return None
                ranges += zip(pairs[::2], pairs[1::2], strict=True)
                at, before = end, ""
            else:
                ranges.append(("[", "["))
                before = "["
        else:
            at += char == "\\"
            before = pattern[at : at + 1]
            ranges.append((before, before))
        if at >= len(pattern):
            return None
        at += 1
    inside = "".join(f"{re.escape(low)}-{re.escape(high)}" for low, high in ranges if low <= high)
    if not inside:
        return ("." if negated else "(?!)"), at + 1
    return f"[{'^' * negated}{inside}]", at + 1


def _compiled(segment: list[str], dots: bool) -> re.Pattern[str]:
    """The expression of one name.

    What lies between two stars is looked for once, from the left: the group of a look-ahead is
    never tried again, so a name takes no longer for many stars.
    """
    runs: list[str] = [""]
    for token in segment:
        if token == "*":
            runs.append("")
        else:
            runs[-1] += token
    written = runs[0]
    for i, run in enumerate(run for run in runs[1:-1] if run):
        written += f"(?=(?P<g{i}>.*?{run}))(?P=g{i})"
    if len(runs) > 1:
        written += ".*" + runs[-1]
    if not dots and segment[0] != re.escape("."):
        written = r"(?!\.)" + written
    return re.compile(written, re.DOTALL)
