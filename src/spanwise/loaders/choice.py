"""What of a folder or an archive is asked for, by the names that lead there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from spanwise.errors import LoadError
from spanwise.loaders.ignore import Rule, compile_rule, last_match

__all__ = ["Choice", "OnError", "path_shown", "reporter"]

OnError = Callable[[LoadError], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What `find_files` and `archive_members` are asked for."""

    include: tuple[Rule, ...]
    exclude: tuple[Rule, ...]
    suffixes: frozenset[str] | None

    @classmethod
    def of(
        cls, include: Iterable[str], exclude: Iterable[str], suffixes: Collection[str] | None
    ) -> Choice:
        """What patterns and suffixes say."""
        return cls(
            include=_rules(include, "include", dots=False),
            exclude=_rules(exclude, "exclude", dots=True),
            suffixes=None if suffixes is None else frozenset(suffixes),
        )

    def enters(self, names: tuple[str, ...]) -> bool:
        """Whether a folder may hold what is asked for."""
        if _excluded(self.exclude, names, True):
            return False
        if not self.include:
            return not names[-1].startswith(".")
        for rule in reversed(self.include):
            covers = _reach(rule, names, True) > 0
            if covers or (rule.leads(names) and not rule.negated):
                return not rule.negated
        return False

    def asks(self, names: tuple[str, ...]) -> bool:
        """Whether a file is asked for, if the folder it lies in is entered."""
        by_suffix = (
            self.suffixes is None or PurePosixPath(names[-1]).suffix.lower() in self.suffixes
        )
        if self.include:
            named = self._included(names)
            if named is None or not (by_suffix or named):
                return False
        elif not by_suffix or names[-1].startswith("."):
            return False
        return not _excluded(self.exclude, names, False)

    def asks_member(self, names: tuple[str, ...], *, may_be_archive: bool) -> bool:
        """Whether a file of an archive is asked for, or a folder if that is what it is."""
        if not self.include and any(name.startswith(".") for name in names[:-1]):
            return False
        ends = range(1, len(names)) if self.exclude else ()
        if any(_excluded(self.exclude, names[:end], True) for end in ends):
            return False
        return self.asks(names) or (may_be_archive and self.enters(names))

    def _included(self, names: tuple[str, ...]) -> bool | None:
        """Whether a pattern names this file itself, None where none takes it.

        A pattern that matches a folder takes what is below it; the last that does decides.
        """
        for rule in reversed(self.include):
            reach = _reach(rule, names, False)
            if reach:
                return None if rule.negated else reach == len(names) and not rule.place
        return None


def _reach(rule: Rule, names: tuple[str, ...], is_folder: bool) -> int:
    """How many of the names lead to what the rule matches: the path or a folder above it, or 0.

    What is below that folder counts too, but for names that begin with a dot.
    """
    for end in range(len(names), 0, -1):
        if rule.fits(names[:end], is_folder or end < len(names)):
            return end
        if names[end - 1].startswith(".") and not rule.negated:
            break
    return 0


def _excluded(rules: tuple[Rule, ...], names: tuple[str, ...], is_folder: bool) -> bool:
    rule = last_match(rules, names, is_folder)
    return rule is not None and not rule.negated


def _rules(patterns: Iterable[str], option: str, *, dots: bool) -> tuple[Rule, ...]:
    """The patterns of an option; a single one may stand alone."""
    given = (patterns,) if isinstance(patterns, str) else patterns
    return tuple(compile_rule(pattern, option=option, dots=dots) for pattern in given)


def reporter(on_error: OnError | None) -> OnError:
    """What is done with an error: given to the caller, or raised."""

    def report(error: LoadError) -> None:
        if on_error is None:
            raise error
        on_error(error)

    return report


def path_shown(path: object) -> str:
    """A path for a message: bytes of a name that are no text are escaped."""
    return str(path).encode("utf-8", "backslashreplace").decode()
