"""Sizes in the tokens of a model, counted as the model counts them.

What reaches a model is a string, so a size is the true count of that string, specials included.
Tokenizers are only read, never run on a string that is then shipped: a passage stays a slice.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any
from unicodedata import normalize

from spanwise.cutting.additive import adds_up, adds_up_by_lines, adds_up_by_words
from spanwise.cutting.encodings import Encoding, by_lists
from spanwise.cutting.naming import named
from spanwise.cutting.sizers import Counted, Measure
from spanwise.cutting.surrogates import readable
from spanwise.cutting.units import MARKS, SPACES, SPACES_AND_LINES, WORDS, Counter
from spanwise.errors import OptionError, TokenizerWarning, shown
from spanwise.extras import require_extra
from spanwise.twins import tiktoken_reader

__all__ = ["Tokens", "tokens"]

# The encodings that come with a package (extra `bpe`), so that nothing is fetched.
_ENCODINGS = ("cl100k_base", "o200k_base")

# Parts of a tokenizer.json whose result for a unit does not depend on what stands beyond a space.
_LOCAL_NORMALIZERS = frozenset(
    [
        *("BertNormalizer", "NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Strip"),
        *("Replace", "Prepend", "Precompiled", "Nmt", "ByteLevel"),
    ]
)
_LOCAL_SPLITTERS = frozenset(
    [
        *("BertPreTokenizer", "ByteLevel", "Whitespace", "WhitespaceSplit", "Metaspace"),
        *("Split", "Punctuation", "Digits", "UnicodeScripts"),
    ]
)
# These never look across white space of any kind.
_WORD_SPLITTERS = frozenset(("BertPreTokenizer", "Whitespace", "WhitespaceSplit"))
_LOCAL_MODELS = frozenset(("BPE", "WordPiece", "Unigram", "WordLevel"))

# A token that holds a space after ink would join what is counted apart.
_SPACES = "▁Ġ "
_JOINS = re.compile(rf"[^{_SPACES}\sĊčĉ][{_SPACES}]").search
# One that goes on behind a line end forbids to count lines apart.
_JOINS_LINES = re.compile(rf"[\nĊ][^{_SPACES}\sĊ]").search

# The same of an encoding, whose tokens are text: o200k_base has some that go on with a slash.
_INK_AND_SPACE = re.compile(r"\S ").search
_LINE_END_AND_INK = re.compile(r"[\r\n]\S").search

_PLAIN = {"add_special_tokens": False}

_SPACE_ALONE = re.compile(r"(?: |\\s)(?:\+|\{\d+,\d*\})?").fullmatch
_COMPATIBLE = frozenset(("NFKC", "NFKD", "Nmt", "Precompiled"))


class Tokens:
    """A sizer that counts the tokens of one tokenizer; made by `tokens`.

    ``added`` of them stand for what the model puts around each text. ``proved`` says whether
    counts of the parts of a text are known to add up; else every range is counted whole.
    """

    __slots__ = ("_counter", "_source", "fingerprint", "proved", "unit")

    def __init__(
        self,
        source: object,
        counter: Counter | Encoding,
        *,
        proved: bool,
        name: str,
        fingerprint: str,
    ) -> None:
        self._source = source
        self._counter = counter
        self.proved = proved
        self.unit = f"tokens of {name}"
        self.fingerprint = fingerprint

    @property
    def added(self) -> int:
        """How many tokens the model adds to each text."""
        return self._counter.added

    def __call__(self, text: str) -> int:
        """The size of a string in tokens, what the model adds included."""
        return self._counter.size(text) if self.proved else self._counter.whole(text)

    def whole(self, text: str) -> int:
        """The same count by the tokenizer alone, without what was counted before."""
        return self._counter.whole(text)

    def bind(self, text: str) -> Measure:
        """The sizer bound to a text, which is then read once."""
        return self._counter.bind(text) if self.proved else Counted(text, self)

    def __reduce__(self) -> tuple[Callable[..., Tokens], tuple[object]]:
        return _again, (self._source,)

    def __repr__(self) -> str:
        return f"<Tokens: {self.unit}>"


def _again(source: object) -> Tokens:
    """The sizer of a tokenizer, when it comes from another process."""
    return tokens(source, quiet=True)


def tokens(tokenizer: object, *, quiet: bool = False) -> Tokens:
    """A sizer that counts the tokens of a tokenizer.

    ``tokenizer`` is the path of a ``tokenizer.json`` or of its folder, a
    `tokenizers.Tokenizer`, a fast tokenizer of transformers, a tiktoken or bpe-openai encoding
    or the name of one (``"cl100k_base"``, ``"o200k_base"``), any object with ``encode``, or a
    function from a text to its count. What the model adds to a text (``[CLS]``, ``[SEP]``) is
    counted. Control tokens that a text quotes count as plain text, lone surrogates as U+FFFD.

    Truncation and padding that a tokenizer has switched on are switched off on a copy, with one
    `TokenizerWarning` unless ``quiet``. A word that the tokenizer gives up on and replaces by one
    unknown token counts as many tokens as it has characters, which no reading of it can exceed.

    Cost: one look at the vocabulary; then, where the tokenizer's make says that counts add up, a
    text is encoded once by an encoding, and of other tokenizers each distinct word is counted once
    and remembered (up to 262,144 of them). An encoding of tiktoken is read by up to four threads,
    by a faster copy of it (40 ms, 20 MB).
    """
    if isinstance(tokenizer, str | Path):
        tokenizer = _opened(tokenizer)
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if all(hasattr(backend, name) for name in ("to_str", "encode_batch", "no_truncation")):
        return _hugging_face(backend, quiet)
    ordinary = getattr(tokenizer, "encode_ordinary", None)
    if ordinary is not None:
        return _encoding(tokenizer, ordinary)
    encode = getattr(tokenizer, "encode", None)
    if callable(encode):
        return _other(tokenizer, lambda text: len(encode(text)))
    if callable(tokenizer):
        return _other(tokenizer, tokenizer)
    raise OptionError(
        f"tokenizer={shown(tokenizer)} is no tokenizer; pass the path of a tokenizer.json, an "
        f"encoding's name ({', '.join(_ENCODINGS)}), an object with encode, or a function from a "
        "text to its count"
    )


def _opened(name: str | Path) -> object:
    """The tokenizer of a path or of an encoding's name."""
    path = Path(name)
    if path.is_dir():
        path /= "tokenizer.json"
    if path.is_file():
        library = require_extra("tokenizers", "tokenizers", "a tokenizer.json")
        try:
            return library.Tokenizer.from_file(str(path))
        except Exception as fault:  # the library raises bare Exception
            raise OptionError(
                f"tokenizer={shown(str(name))} cannot be read: {fault}; give a tokenizer.json as "
                "Hugging Face tokenizers write it"
            ) from fault
    if str(name) in _ENCODINGS:
        return require_extra("bpe_openai", "bpe", f"the encoding {name}").get_encoding(str(name))
    raise OptionError(
        f"tokenizer={shown(str(name))} is neither a file nor one of {', '.join(_ENCODINGS)}; give "
        "the path of a tokenizer.json, or of the folder that holds it"
    )


def _hugging_face(tokenizer: Any, quiet: bool) -> Tokens:
    """The sizer of a `tokenizers.Tokenizer`, on a copy that reads whole texts."""
    source = tokenizer.to_str()
    state = json.loads(source)
    if not quiet:
        _say_switched_off(state)
    copy = type(tokenizer).from_str(source)
    copy.no_truncation()
    copy.no_padding()
    copy.encode_special_tokens = True
    model = state["model"]
    unknown = model.get("unk_token")
    if unknown is None and model.get("unk_id") is not None:
        unknown = copy.id_to_token(model["unk_id"])
    unknown_id = copy.token_to_id(unknown) if unknown else None
    encode_batch = getattr(copy, "encode_batch_fast", copy.encode_batch)

    def count_all(texts: list[str]) -> list[int]:
        texts = [*map(readable, texts)]
        found = encode_batch(texts, **_PLAIN)
        counts = [len(each.ids) for each in found]
        if unknown_id is not None:
            for i, each in enumerate(found):
                if unknown_id in each.ids:
                    # The fast way knows no places, which only a word given up on needs.
                    counts[i] += hidden(texts[i], encode(texts[i]))
        return counts

    def encode(text: str) -> Any:
        return copy.encode(text, **_PLAIN)

    def hidden(text: str, found: Any) -> int:
        """What the words replaced by one unknown token might count at the most, less that one."""
        more = 0
        for token, (start, end) in zip(found.ids, found.offsets, strict=True):
            if token == unknown_id and (end - start > 1 or text[start:end] > "\u02ff"):
                more += max(0, len(normalize("NFKD", text[start:end])) - 1)
        return more

    def ids_of(text: str) -> list[int]:
        return list(encode(text).ids)

    vocabulary = copy.get_vocab(with_added_tokens=True)
    first = next(iter(_parts(state.get("pre_tokenizer"), "pretokenizers")), {"type": ""})
    added = copy.num_special_tokens_to_add(False)
    proved = _is_local(state, vocabulary)
    before = next((each for each in (" ", "") if proved and adds_up(ids_of, each)), None)
    if before is not None and first["type"] in _WORD_SPLITTERS and adds_up_by_words(ids_of):
        parting = MARKS if _parts_marks(state) else WORDS
    elif any(map(_JOINS_LINES, vocabulary)) or not adds_up_by_lines(ids_of):
        parting = SPACES
    else:
        parting = SPACES_AND_LINES
    counter = Counter(
        count_all,
        parting,
        added,
        own_space=before == "",
        is_one=_single_words(state) if parting is MARKS else None,
    )
    digest = blake2b(source.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    return Tokens(
        copy,
        counter,
        proved=before is not None,
        name=f"a {model['type']} tokenizer",
        fingerprint=f"tokens({model['type']} {digest})",
    )


def _say_switched_off(state: dict[str, Any]) -> None:
    """Warn once of settings that would hide the length of a text."""
    found = []
    if state.get("truncation"):
        found.append(f"truncation to {state['truncation'].get('max_length')} tokens")
    if state.get("padding"):
        found.append("padding")
    if found:
        warnings.warn(
            f"the tokenizer has {' and '.join(found)} switched on, which would hide how long a "
            "text is; the copy that counts has them off",
            TokenizerWarning,
            stacklevel=4,
        )


def _is_local(state: dict[str, Any], vocabulary: dict[str, int]) -> bool:
    """Whether a tokenizer.json is made of parts that never look across a space between words."""
    model = state["model"]
    if model["type"] not in _LOCAL_MODELS or model.get("dropout"):
        return False
    if any(added.get("rstrip") for added in state.get("added_tokens", ())):
        return False
    normalizers = _parts(state.get("normalizer"), "normalizers")
    kinds = {part["type"] for part in normalizers}
    for part in normalizers:
        if part["type"] not in _LOCAL_NORMALIZERS:
            return False
        # What is replaced may only be white space, else it could reach across one.
        pattern = part.get("pattern") or {}
        if part["type"] == "Replace" and not _SPACE_ALONE(next(iter(pattern.values()), "")):
            return False
        # A space that a compatibility form makes is trimmed only where a unit stands alone.
        if part.get("strip_left") and kinds & _COMPATIBLE:
            return False
    if "StripAccents" in kinds and kinds & _COMPATIBLE:
        return False
    for part in _parts(state.get("pre_tokenizer"), "pretokenizers"):
        if part["type"] not in _LOCAL_SPLITTERS or "(?<" in str(part.get("pattern")):
            return False
    return not any(map(_JOINS, vocabulary))


def _parts_marks(state: dict[str, Any]) -> bool:
    """Whether every ASCII punctuation mark is a word of its own, as BERT has it."""
    normalizer, splitter = state.get("normalizer"), state["pre_tokenizer"]
    plain = normalizer is None or normalizer["type"] == "BertNormalizer"
    return bool(plain and splitter["type"] == "BertPreTokenizer")


def _single_words(state: dict[str, Any]) -> Callable[[str], bool] | None:
    """Whether a piece is a word that BERT's kind has whole in its vocabulary.

    Greedy matching takes the longest beginning first, which for such a word is all of it.
    """
    model = state["model"]
    others = [added for added in state.get("added_tokens", ()) if not added["special"]]
    if model["type"] != "WordPiece" or others:
        return None
    lowers = bool((state.get("normalizer") or {}).get("lowercase"))
    words = {
        word
        for word in model["vocab"]
        if word.isascii()
        and word.isalnum()
        and (not lowers or word == word.lower())
        and len(word) <= model["max_input_chars_per_word"]
    }
    words.discard(model["unk_token"])

    def is_one(piece: str) -> bool:
        word = piece.strip(" \t\n\r")
        return word.isascii() and (word.lower() if lowers else word) in words

    return is_one


def _parts(part: dict[str, Any] | None, inner: str) -> list[dict[str, Any]]:
    """The parts of a sequence, however deep, or the one part there is."""
    if part is None:
        return []
    if part["type"] == "Sequence":
        return [each for one in part[inner] for each in _parts(one, inner)]
    return [part]


def _encoding(encoding: Any, encode_ordinary: Callable[[str], list[int]]) -> Tokens:
    """The sizer of a tiktoken or bpe-openai encoding."""
    maker = type(encoding).__module__.partition(".")[0]
    name = str(getattr(encoding, "name", type(encoding).__name__))
    pattern = str(getattr(encoding, "_pat_str", "(?<"))

    ranks: dict[bytes, int] = getattr(encoding, "_mergeable_ranks", {})
    # What parts the tokens here can be no part of what is looked for.
    spaced = _INK_AND_SPACE(b"\n".join(ranks).decode("utf-8", "replace"))
    proved = "(?<" not in pattern and not spaced and adds_up(encode_ordinary, " ")
    lined = _LINE_END_AND_INK(b" ".join(ranks).decode("utf-8", "replace"))
    lines = proved and not lined and adds_up_by_lines(encode_ordinary)
    parting = SPACES_AND_LINES if lines else SPACES
    counter: Counter | Encoding
    if ranks:
        lengths = [0] * (max(ranks.values()) + 1)
        for token, rank in ranks.items():
            lengths[rank] = len(token)
        if maker == "tiktoken":
            read = tiktoken_reader(encoding, lengths)
        else:
            read = by_lists(encode_ordinary, lengths)
        # One of bpe-openai lets no other thread run.
        counter = Encoding(encode_ordinary, read, parting, in_threads=maker == "tiktoken")
    else:
        counter = Counter(lambda texts: [len(encode_ordinary(text)) for text in texts], parting)
    # One of bpe-openai cannot be pickled.
    by_name = maker == "bpe_openai" and name in _ENCODINGS
    digest = blake2b(f"{len(ranks)} {pattern}".encode(), digest_size=6).hexdigest()
    return Tokens(
        name if by_name else encoding,
        counter,
        proved=proved,
        name=name,
        fingerprint=f"tokens({name} {digest})",
    )


def _other(tokenizer: Any, count: Callable[[str], int]) -> Tokens:
    """The sizer of a tokenizer that nothing is known of: every range is counted whole."""
    name = str(getattr(tokenizer, "name", "") or getattr(tokenizer, "__name__", ""))

    def counted(text: str) -> int:
        size = count(readable(text))
        if not isinstance(size, int):
            raise OptionError(
                f"tokenizer={shown(tokenizer)} answers {shown(size)}, which is no count; pass an "
                "object with encode, or a function from a text to how many tokens it has"
            )
        return size

    return Tokens(
        tokenizer,
        Counter(lambda texts: list(map(counted, texts)), SPACES),
        proved=False,
        name=name or type(tokenizer).__name__,
        fingerprint=f"tokens({named(tokenizer)})",
    )
