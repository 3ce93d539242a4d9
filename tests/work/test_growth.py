"""Work grows with the text: times from n to 4n, and how much text a sizer is given.

Strategies and hostile inputs are those of `benchmarks/growth.py` and `benchmarks/corpora.py`, which
run them at full size.
"""

import signal
import sys
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

# A case takes a tenth of a second; what hangs fails here instead of holding the suite.
PATIENCE = 20

# How many times the whole text a sizer may be given. The highest found are 62 (by_layout on bare
# headings), and 302 where records or turns of two characters are measured one by one.
TIMES_THE_TEXT = 90
TIMES_THE_TEXT_BY_RECORD = 400
# The longest single piece a sizer may be given, in sizes: galloping reaches two.
TIMES_THE_SIZE = 4

RUNS = growth.runs()
SIZED = [name for name in growth.STRATEGIES if name != "chunk"]


@pytest.fixture(autouse=True)
def _patience():
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def late(*_):
        raise TimeoutError(f"not done after {PATIENCE} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(PATIENCE)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


class Recorder:
    """A sizer that counts characters, keeps how much it was given, and stops at ``most``."""

    def __init__(self, most):
        self.total = self.longest = self.calls = 0
        self.most = most

    def __call__(self, text):
        self.calls += 1
        self.total += len(text)
        self.longest = max(self.longest, len(text))
        assert self.total <= self.most, f"{self.calls} calls, {self.total} characters measured"
        return len(text)


@cache
def real():
    return "\n\n".join(text for _, text in corpora.repo_markdown()[::-1])


def texts(kind):
    """A text and one four times as long."""
    if kind == "real Markdown":
        return real()[: 4 * SMALL], real()[: 4 * LARGE]
    _, make = corpora.HOSTILE[kind]
    return make(SMALL), make(LARGE)


KINDS = ["real Markdown", *corpora.HOSTILE]


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("kind", KINDS)
def test_time_grows_with_the_text(kind, name):
    low, high = growth.grown(RUNS[name], *texts(kind), LIMIT)
    assert high <= LIMIT * max(low, growth.FLOOR), (low, high)


def usual_size(name):
    """The size a strategy cuts to when none is given."""
    for part, size in (("engine", 512), ("layout", 512), ("similarity", 512), ("turns", 1200)):
        if part in name:
            return size
    if name.startswith("by_structure"):
        return 2000
    return 800 if name.startswith(("chunk_text", "by_text", "by_record")) else 1000


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SIZED)
def test_a_sizer_is_given_little_more_than_the_text(name, kind):
    text, _ = texts(kind)
    one_by_one = name.startswith(("by_record", "chunk_turns"))
    times = TIMES_THE_TEXT_BY_RECORD if one_by_one else TIMES_THE_TEXT
    sizer = Recorder(times * len(text))
    growth.STRATEGIES[name](sizer=sizer)(text)
    assert sizer.longest <= TIMES_THE_SIZE * usual_size(name)
