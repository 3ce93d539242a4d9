"""Chunks of at most 512 tokens: how fast, how many over, beside peers and one raw pass.

Every run gives text and start of every chunk, without overlap, in turns over the same new strings.
The raw pass encodes the whole string once by the same tokenizer. Ours run cold, with a sizer that
has counted nothing, and warm, with one that has read another text, of 2 MB at least. Peers are made
anew for each run, as some remember what they count; slow ones run a few times, on a text cut to
`--slow-limit`. A text larger than the corpus repeats its paragraphs, which favours all that
remember counts.

Outside the time each chunk's text is counted again by the tokenizer alone, with what it adds:
printed are the chunks over 512, those that are so without what it adds, and those that are not
the slice at their start. `chunk_size` is a target with a bound, `max_size` a cap. The exit status
is 1 where one of ours is over its bound or no slice.

    python benchmarks/tokens.py                 # prose of 0.2, 1 and 4 MB, Markdown of 1 MB
    python benchmarks/tokens.py --hostile       # every strategy under a cap, on texts that break it
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import corpora
import peers
from growth import embed
from speed import timed

import spanwise
from spanwise.cutting.pack import RUNT
from spanwise.splitters.base import Strategy
from spanwise.splitters.registry import STRATEGIES
from spanwise.tokenizing import Tokens

SIZE = 512
HOSTILE_CAP = 256
PROSE, MARKDOWN = (0.2, 1.0, 4.0), (1.0,)
FIXTURE = Path(__file__).resolve().parents[1] / "tests" / "data" / "minilm_tokenizer.json.xz"

# Below this size five different texts take turns; a larger one stands for itself.
_SMALL = 1.0

# The text that a warm sizer has read is of another seed than any that is timed, and so long.
_OTHER_SEED, _OTHER_MB = 100, 2.0

# A slow peer runs this often on a text that was cut for it.
_SLOW_RUNS = 3

# About 500 tokens of English: a size in characters at which the cap binds now and then.
_CHARS = 2000

Run = Callable[[str], Any]
Split = Callable[[str], spanwise.Chunks]

# The slow ones ask for the count of every piece, one by one.
_FAST = (peers.TOKEN_CHUNKER, peers.LANGCHAIN_TOKENS, peers.CHONKIE)
_SLOW = (peers.LANGCHAIN_TEXT, peers.STS_TEXT, peers.SEMCHUNK)


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A tokenizer as peers and ours are given it, its raw passes and its true counts."""

    name: str
    given: Any
    passes: dict[str, Run]
    count_all: Callable[[list[str]], list[int]]
    added: int
    peers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """What runs: ``make`` is given a text to be warm from; ``bound`` holds for ours alone."""

    name: str
    make: Callable[[str], Run]
    bound: int | None = None


def wordpiece(path: Path) -> Model:
    """A tokenizer.json, plain or in xz, with truncation and padding off."""
    source = _source(path)
    library = _library("tokenizers")
    given, counter = library.Tokenizer.from_str(source), library.Tokenizer.from_str(source)
    for each in (given, counter):
        each.no_truncation()
        each.no_padding()
    counter.encode_special_tokens = True
    return Model(
        name="WordPiece",
        given=given,
        passes={
            "raw pass": given.encode,
            "raw pass without places": lambda text: given.encode_batch_fast([text]),
        },
        count_all=lambda texts: [len(each.ids) for each in counter.encode_batch_fast(texts)],
        added=given.num_special_tokens_to_add(False),
        peers=(*_FAST, *_SLOW),
    )


def cl100k() -> Model:
    """cl100k_base as a tiktoken encoding, from the tables that bpe-openai carries."""
    tables = _library("bpe_openai").get_encoding("cl100k_base")
    given = _library("tiktoken").Encoding(
        "cl100k_base",
        pat_str=tables._pat_str,
        mergeable_ranks=tables._mergeable_ranks,
        special_tokens=tables._special_tokens,
    )
    return Model(
        name="cl100k",
        given=given,
        passes={"raw pass": given.encode_ordinary},
        count_all=lambda texts: [len(given.encode_ordinary(text)) for text in texts],
        added=0,
        peers=(*_FAST, peers.STS_OPENAI, *_SLOW),
    )


def _source(path: Path) -> str:
    if path.suffix == ".xz":
        return lzma.decompress(path.read_bytes()).decode()
    return path.read_text(encoding="utf-8")


def _library(name: str) -> Any:
    if find_spec(name) is None:
        sys.exit(f"{name} is not installed: pip install tokenizers tiktoken bpe-openai")
    return import_module(name)


# Ours: the bound of a size (as in the tests of the promises), and what splits by a sizer.

_SIZED: dict[str, Any] = {"chunk_size": SIZE, "overlap": 0}
_CHARS_SIZED: dict[str, Any] = {"chunk_size": _CHARS, "overlap": 0}
_FLOORED = SIZE + 2 * max(SIZE // 4, RUNT)


def _chunk_text(sizer: Tokens) -> Split:
    return lambda text: spanwise.chunk_text(text, sizer=sizer, **_SIZED)


def _sized(kind: Callable[..., spanwise.Splitter], **more: Any) -> Callable[[Tokens], Split]:
    return lambda sizer: kind(sizer=sizer, **_SIZED, **more).split


def _capped(kind: Callable[..., spanwise.Splitter]) -> Callable[[Tokens], Split]:
    return lambda sizer: kind(max_size=spanwise.cap(SIZE, sizer), **_CHARS_SIZED).split


OURS: dict[str, tuple[int, Callable[[Tokens], Split]]] = {
    "fixed_with_overlap": (SIZE + RUNT, _sized(spanwise.fixed_with_overlap)),
    "chunk_text": (SIZE, _chunk_text),
    "by_paragraph": (_FLOORED, _sized(spanwise.by_paragraph)),
    "by_heading": (_FLOORED, _sized(spanwise.by_heading)),
    "fixed_with_overlap max_size": (SIZE, _sized(spanwise.fixed_with_overlap, max_size=SIZE)),
    "by_paragraph max_size": (SIZE, _sized(spanwise.by_paragraph, max_size=SIZE)),
    "by_heading max_size": (SIZE, _sized(spanwise.by_heading, max_size=SIZE)),
    "by_paragraph of characters, cap": (SIZE, _capped(spanwise.by_paragraph)),
    "by_heading of characters, cap": (SIZE, _capped(spanwise.by_heading)),
}


def runners(model: Model, chosen: list[str]) -> list[Runner]:
    """The raw passes, ours cold and warm, the peers."""

    def ours(split_by: Callable[[Tokens], Split], warm: bool, other: str) -> Run:
        sizer = spanwise.tokens(model.given, quiet=True)
        if warm:
            sizer.bind(other).size(0, len(other))
        split = split_by(sizer)

        def run(text: str) -> list[tuple[str, int]]:
            chunks = split(text)
            return list(zip(chunks.texts, chunks.starts, strict=True))

        return run

    made = [Runner(name=name, make=lambda _, run=run: run) for name, run in model.passes.items()]
    for name, (bound, split_by) in OURS.items():
        for warm in (False, True):
            title = f"{name}, {'warm' if warm else 'cold'}"
            made.append(Runner(name=title, make=partial(ours, split_by, warm), bound=bound))
    names = [name for name in model.peers if not chosen or name in chosen]
    for name, make in peers.counting(names, SIZE, model.given).items():
        made.append(Runner(name=name, make=lambda _, make=make: make()))
    return made


def check(model: Model, run: Run, text: str) -> dict[str, int]:
    """Chunks, how many are over the size by the tokenizer alone, how many are no slice."""
    chunks = run(text)
    counts = model.count_all([each for each, _ in chunks])
    return {
        "chunks": len(chunks),
        "over": sum(count > SIZE for count in counts),
        "over_bare": sum(count - model.added > SIZE for count in counts),
        "largest": max(counts, default=0),
        "no_slice": sum(
            each not in text if start is None else text[start : start + len(each)] != each
            for each, start in chunks
        ),
    }


def measure(
    model: Model, kind: str, mb: float, rounds: int, slow_limit: float, chosen: list[str]
) -> Iterator[dict[str, Any]]:
    """One table: the rate of each runner, in MB/s of UTF-8, and what its chunks are."""
    make_text = corpora.prose if kind == "prose" else corpora.markdown
    texts = [make_text(mb, seed) for seed in range(5)] if mb < _SMALL else [make_text(mb)]
    other = make_text(max(mb, _OTHER_MB), _OTHER_SEED)
    all_runners = runners(model, chosen)
    parts = {each.name: [*map(partial(_part, each, slow_limit), texts)] for each in all_runners}
    rates: dict[str, list[float]] = {each.name: [] for each in all_runners}
    for i in range(rounds):
        for each in all_runners:
            part, size = parts[each.name][i % len(texts)]
            if i >= _SLOW_RUNS and each.name in _SLOW and mb > slow_limit:
                continue
            run = each.make(other)
            rates[each.name].append(size / timed(run, corpora.fresh(part)))
    middle = {name: median(found) for name, found in rates.items()}
    raw = middle[next(iter(model.passes))]
    fastest = max((name for name in middle if name in model.peers), key=middle.get, default=None)
    whole = corpora.megabytes(corpora.fresh(texts[0]))
    distinct = sum(map(corpora.megabytes, set(texts[0].split("\n\n"))))
    for each in all_runners:
        name, (part, size) = each.name, parts[each.name][0]
        yield {
            "tokenizer": model.name,
            "text": kind,
            "mb": round(whole, 2),
            "distinct_mb": round(distinct, 2),
            "name": name,
            "runs": len(rates[name]),
            "mb_per_s": middle[name],
            "low": min(rates[name]),
            "high": max(rates[name]),
            "limited_to_mb": round(size, 2) if len(part) < len(texts[0]) else None,
            "of_raw": middle[name] / raw,
            "fastest_peer": fastest,
            "of_fastest_peer": middle[name] / middle[fastest] if fastest else None,
            "bound": each.bound,
        } | ({} if name in model.passes else check(model, each.make(other), corpora.fresh(part)))


def _part(runner: Runner, slow_limit: float, text: str) -> tuple[str, float]:
    """What a runner is given of a text, and its size."""
    size = corpora.megabytes(corpora.fresh(text))
    if runner.name not in _SLOW or size <= slow_limit * 1.1:
        return text, size
    part = text[: int(len(text) * slow_limit / size)]
    return part, corpora.megabytes(corpora.fresh(part))


def fails(row: dict[str, Any]) -> bool:
    """Whether one of ours is over its bound, or no slice."""
    bound = row["bound"]
    return bound is not None and (row["largest"] > bound or row["no_slice"] > 0)


HEAD = (
    f"{'':42}{'MB/s':>8} [spread; runs]       {'of raw':>8}{'of peer':>9}"
    f"{'chunks':>8}{'over':>7}{'bare':>7}{'largest':>8}{'no slice':>9}"
)


def show(row: dict[str, Any]) -> str:
    """One row of a table, for people."""
    spread = f"[{row['low']:.2f}..{row['high']:.2f}; {row['runs']}]"
    of_peer = f"{row['of_fastest_peer']:8.2f}x" if row["of_fastest_peer"] else ""
    line = f"  {row['name']:40}{row['mb_per_s']:8.2f} {spread:20} {row['of_raw']:7.2f}x{of_peer:>9}"
    if "chunks" in row:
        line += f"{row['chunks']:8,}{row['over']:7,}{row['over_bare']:7,}"
        line += f"{row['largest']:8,}{row['no_slice']:9,}"
    if row["limited_to_mb"]:
        line += f"  (on {row['limited_to_mb']:.2f} MB)"
    return line + ("  OVER ITS BOUND OR NO SLICE" if fails(row) else "")


def speeds(given: argparse.Namespace) -> bool:
    """Print every table; whether all of ours hold."""
    good = True
    for kind, sizes in (("prose", PROSE), ("Markdown", MARKDOWN)):
        if given.text not in (kind, "both"):
            continue
        for mb in given.mb or sizes:
            for model in (wordpiece(given.wordpiece), cl100k()):
                rows = measure(model, kind, mb, given.rounds, given.slow_limit, given.peer)
                for i, row in enumerate(rows):
                    if i == 0 and not given.json:
                        distinct = f"paragraphs without repeats {row['distinct_mb']:.2f} MB"
                        print(f"\n{model.name}, {kind} {row['mb']:.2f} MB, {distinct}\n{HEAD}")
                    print(json.dumps(row) if given.json else show(row), flush=True)
                    good &= not fails(row)
    return good


# Hostile

_CUNEIFORM = "".join(map(chr, range(0x12000, 0x12096)))

HOSTILE: dict[str, str] = {
    "one word": "x" * 300_000,
    "chinese": corpora.HOSTILE["chinese"][1](100_000),
    "joined emoji": "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466" * 4_000,
    "word word": "word " * 60_000,
    "table": corpora.HOSTILE["table"][1](9_000),
    "control tokens": "Say <|endoftext|>, <|fim_prefix|>, <s> or </s>; [MASK] [CLS] [SEP].\n" * 500,
    "cuneiform": " ".join([_CUNEIFORM, _CUNEIFORM[::-1], _CUNEIFORM * 9] * 9),
}


def hostile_tokenizers(path: Path) -> dict[str, Any]:
    """What is given to `tokens`, the first with the truncation and padding that it ships with."""
    bpe = _library("bpe_openai")
    found = {
        "WordPiece": _library("tokenizers").Tokenizer.from_str(_source(path)),
        "cl100k": bpe.get_encoding("cl100k_base"),
        "o200k": bpe.get_encoding("o200k_base"),
    }
    wordllama = find_spec("wordllama")
    if wordllama is None or not wordllama.submodule_search_locations:
        print("left out: wordllama, which is not installed", file=sys.stderr)
        return found
    folder = Path(wordllama.submodule_search_locations[0]) / "tokenizers"
    return found | {"l2_supercat": folder / "l2_supercat_tokenizer_config.json"}


def strategy_runs(limit: spanwise.Cap) -> Iterator[tuple[str, Split]]:
    """Every strategy of the registry with its defaults, under a cap."""
    for kind in STRATEGIES:
        needs: dict[str, Any] = {"embed": embed} if kind.name == "by_similarity" else {}
        made: Strategy = kind(max_size=limit, **needs)
        yield kind.name, partial(_turns, made) if kind.name == "by_turn" else made.split


def _turns(splitter: Strategy, text: str) -> spanwise.Chunks:
    turns = (spanwise.Turn(line, seq) for seq, line in enumerate(text.splitlines()))
    return splitter.split(spanwise.Document.from_turns(turns))


def under_cap(sizer: Tokens, split: Split, text: str) -> dict[str, Any]:
    """One strategy on one text: what is over the cap by the tokenizer alone, what is no slice."""
    begin = perf_counter()
    chunks = split(corpora.fresh(text))
    seconds = perf_counter() - begin
    counts, no_slice, smallest = [], 0, None
    for each in chunks:
        counts.append(sizer.whole(each.embed_text))
        astray = chunks.document.text[each.start : each.end] != each.text or not each.text
        no_slice += astray
        over = counts[-1] > HOSTILE_CAP
        if (astray or over) and (smallest is None or len(each.embed_text) < len(smallest)):
            smallest = each.embed_text
    return {
        "seconds": seconds,
        "chunks": len(counts),
        "over": sum(count > HOSTILE_CAP for count in counts),
        "largest": max(counts, default=0),
        "no_slice": no_slice,
        "smallest": smallest,
    }


def hostile(given: argparse.Namespace) -> bool:
    """Print what every strategy makes of every text; whether nothing is over or no slice."""
    all_rows: list[dict[str, Any]] = []
    for tokenizer, source in hostile_tokenizers(given.wordpiece).items():
        sizer = spanwise.tokens(source, quiet=True)
        limit = spanwise.cap(HOSTILE_CAP, sizer)
        if not given.json:
            print(f"\n{tokenizer}, at most {limit}; counts add up: {sizer.proved}")
        for title, text in HOSTILE.items():
            about = {"tokenizer": tokenizer, "text": title}
            rows = [
                about | {"name": name} | under_cap(sizer, split, text)
                for name, split in strategy_runs(limit)
            ]
            all_rows += rows
            if given.json:
                print(*map(json.dumps, rows), sep="\n", flush=True)
            else:
                print(_totals(title, rows), flush=True)
    bad = [row for row in all_rows if row["over"] or row["no_slice"]]
    if not given.json:
        print(_totals("\ntotal", all_rows))
        for row in bad:
            print(f"{row['tokenizer']}, {row['text']}, {row['name']}: {row['smallest']!r:.200}")
    return not bad


def _totals(title: str, rows: list[dict[str, Any]]) -> str:
    chunks, over, no_slice = (
        sum(row[key] for row in rows) for key in ("chunks", "over", "no_slice")
    )
    slowest = max(rows, key=lambda row: row["seconds"])
    return (
        f"{title:16}{len(rows):4} runs{chunks:8,} chunks{over:5,} over{no_slice:5,} no slice, "
        f"largest {max(row['largest'] for row in rows):4,}, "
        f"{sum(row['seconds'] for row in rows):7.2f} s, "
        f"slowest {slowest['name']} {slowest['seconds']:.2f} s"
    )


def versions() -> str:
    """Versions of everything that runs here, and whether a batch is encoded on all cores."""
    ours = f"Python {platform.python_version()}, spanwise {spanwise.__version__}"
    found = peers.versions("tokenizers", "tiktoken", "bpe-openai", "wordllama")
    batches = os.environ.get("TOKENIZERS_PARALLELISM", "unset (all cores)")
    load = f"load {os.getloadavg()[0]:.1f} of {os.cpu_count()} cores"
    return f"{ours}, {found}\n{load}, TOKENIZERS_PARALLELISM {batches}"


def main() -> None:
    """Measure speeds, or try the hostile texts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--hostile", action="store_true", help="every strategy, hostile texts")
    parser.add_argument("--wordpiece", type=Path, default=FIXTURE, help="a tokenizer.json, or .xz")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--slow-limit", type=float, default=1.0, help="MB for slow peers")
    parser.add_argument("--text", choices=("prose", "Markdown", "both"), default="both")
    parser.add_argument("--mb", type=float, nargs="*", default=[], help="instead of the usual")
    parser.add_argument("--peer", nargs="*", default=[], help="only these, by full name")
    given = parser.parse_args()
    print(versions(), file=sys.stderr)
    sys.exit(0 if (hostile(given) if given.hostile else speeds(given)) else 1)


if __name__ == "__main__":
    main()
