"""Names and times as they are written beside what was said."""

from __future__ import annotations

__all__ = ["CLOCK", "NAME", "NO_NAMES", "OPEN_SUFFIXES", "milliseconds"]

# A file whose kind is told by how it begins must not have a suffix that says otherwise.
OPEN_SUFFIXES = ("", ".txt", ".text")

# Hours (which may be left out), minutes, seconds and a fraction; `milliseconds` takes the four.
CLOCK = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})(?:[.,](\d{1,3}))?(?![\d:])"

# A name begins with a letter, is short, and a blank parts its colon from what is said.
NAME = r"([^\W\d_][\w.'’&/ -]{0,39}?(?: ?\([\w .'’-]{1,30}\))?)"

# Fields and log levels stand before colons like names do.
NO_NAMES = frozenset(
    (
        *(
            "info",
            "debug",
            "warn",
            "warning",
            "error",
            "fatal",
            "trace",
            "critical",
            "notice",
            "note",
        ),
        *("notes", "tip", "example", "from", "to", "cc", "bcc", "date", "subject", "sent", "title"),
        *("name", "author", "url", "http", "https", "version", "usage", "todo"),
    )
)


def milliseconds(clock: tuple[str | None, ...]) -> int | None:
    """A time of hours, minutes, seconds and a fraction; None where it is none."""
    hours, minutes, seconds, fraction = clock
    if minutes is None or seconds is None or int(seconds) > 59 or (hours and int(minutes) > 59):
        return None
    whole = int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds)
    return whole * 1000 + int((fraction or "").ljust(3, "0"))
