"""Work grows with the text: times from n to 4n, and how much text a sizer is given.

Strategies and hostile inputs are those of `benchmarks/growth.py` and `benchmarks/corpora.py`, which
run them at full size.
"""

import signal
import sys
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
try:
    import corpora
    import growth
finally:
    del sys.path[0]

pytestmark = pytest.mark.filterwarnings("ignore::spanwise.SpanwiseWarning")

SMALL = 12_000
LARGE = 4 * SMALL
# Linear is 4 and quadratic 16; between them lies the noise of a shared machine.
LIMIT = 8.0

# A case takes a few hundredths of a second; what hangs fails here instead of holding the suite.
PATIENCE = 5

# How many times the whole text a sizer may be given. The highest found are 62 (by_layout on bare
# headings), and 302 where records or turns of two characters are measured one by one.
TIMES_THE_TEXT = 90
TIMES_THE_TEXT_BY_RECORD = 400
# The longest single piece a sizer may be given, in sizes: galloping reaches two.
TIMES_THE_SIZE = 4

KINDS = ["real Markdown", *corpora.HOSTILE]
RUNS = growth.runs()
SIZED = [name for name in growth.STRATEGIES if name != "chunk"]


@contextmanager
def patience():
    """Raise TimeoutError in what takes too long."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def late(*_):
        raise TimeoutError(f"not done after {PATIENCE} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


class TooMuchError(Exception):
    """More text was measured than a test allows."""


class Recorder:
    """A sizer that counts characters, keeps how much it was given, and stops at ``most``."""

    def __init__(self, most):
        self.total = self.longest = self.calls = 0
        self.most = most

    def __call__(self, text):
        self.calls += 1
        self.total += len(text)
        self.longest = max(self.longest, len(text))
        if self.total > self.most:
            raise TooMuchError(f"{self.total} characters measured in {self.calls} calls")
        return len(text)


@cache
def real():
    return "\n\n".join(text for _, text in corpora.repo_markdown()[::-1])


@cache
def texts(kind):
    """A text and one four times as long."""
    if kind == "real Markdown":
        return real()[: 4 * SMALL], real()[: 4 * LARGE]
    _, make = corpora.HOSTILE[kind]
    return make(SMALL), make(LARGE)


def over_the_limit(name, kind):
    """What is wrong with the growth of one strategy on one kind of text, or nothing."""
    try:
        with patience():
            low, high = growth.grown(RUNS[name], *texts(kind), LIMIT)
    except TimeoutError as error:
        return str(error)
    if high <= LIMIT * max(low, growth.FLOOR):
        return ""
    return f"{low * 1e3:.1f} ms to {high * 1e3:.1f} ms"


@pytest.mark.parametrize("name", RUNS)
def test_time_grows_with_the_text(name):
    found = {kind: over_the_limit(name, kind) for kind in KINDS}
    assert {kind: fault for kind, fault in found.items() if fault} == {}


def usual_size(name):
    """The size a strategy cuts to when none is given."""
    for part, size in (("engine", 512), ("layout", 512), ("similarity", 512), ("turns", 1200)):
        if part in name:
            return size
    if name.startswith("by_structure"):
        return 2000
    return 800 if name.startswith(("chunk_text", "by_text", "by_record")) else 1000


def measured_too_much(name, kind):
    """What is wrong with what a sizer is given by one strategy, or nothing."""
    text, _ = texts(kind)
    one_by_one = name.startswith(("by_record", "chunk_turns"))
    times = TIMES_THE_TEXT_BY_RECORD if one_by_one else TIMES_THE_TEXT
    sizer = Recorder(times * len(text))
    try:
        with patience():
            growth.STRATEGIES[name](sizer=sizer)(text)
    except (TimeoutError, TooMuchError) as error:
        return str(error)
    if sizer.longest <= TIMES_THE_SIZE * usual_size(name):
        return ""
    return f"a piece of {sizer.longest} characters"


@pytest.mark.parametrize("name", SIZED)
def test_a_sizer_is_given_little_more_than_the_text(name):
    found = {kind: measured_too_much(name, kind) for kind in KINDS}
    assert {kind: fault for kind, fault in found.items() if fault} == {}
