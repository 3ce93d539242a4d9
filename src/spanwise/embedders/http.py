"""HttpEmbedder: vectors from a server that speaks the protocol of OpenAI."""

from __future__ import annotations

import json
import os
import re
import ssl
import time
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timezone
from email.message import Message
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPResponse, IncompleteRead
from ipaddress import ip_address
from math import isfinite
from socket import gaierror
from urllib.error import URLError
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import (
    HTTPHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    UnknownHandler,
    getproxies,
)

from spanwise.cutting.caps import Cap
from spanwise.cutting.sizers import utf8_bytes
from spanwise.embedders.texts import checked_texts, inked, readable
from spanwise.errors import EmbedderError, OptionError, shown

__all__ = ["HttpEmbedder"]

_KEY_VARIABLE = "OPENAI_API_KEY"
_UNSENDABLE = "must be text of printable ASCII to stand in a header"
_PROTOCOL = "check that url speaks the protocol of OpenAI (it often ends with /v1)"
_NETWORK = "check url, that the server runs, and the proxies of the environment"

# Published in tokens. A token of byte-level BPE is one byte or more, so a text
# of that many bytes never has more tokens.
_CEILING = Cap(8191, utf8_bytes)
_KNOWN_MODELS = ("text-embedding-3-large", "text-embedding-3-small", "text-embedding-ada-002")

# Code points a request: OpenAI takes 300,000 tokens, and one rarely is less than a code point.
_BATCH_CHARS = 200_000
# Bytes read of an answer, for each text and once: 16,384 numbers of 64 characters.
_ANSWER_BYTES = 1 << 20
# Bytes read of a refusal, which is only shown.
_REFUSAL_BYTES = 1 << 16
_PIECE_BYTES = 1 << 16
# Characters shown of what a server said: the sentence of OpenAI about the context length.
_SAID_CHARS = 160
# Seconds: the first wait, which doubles, its most, and the most a server may ask for.
_FIRST_WAIT, _LONGEST_WAIT, _LONGEST_TOLD = 0.25, 8.0, 60.0
_LONGEST_TIMEOUT = 86_400

_RETRIED = (429, 500, 502, 503, 504)
# llama.cpp answers 500 to a long text; Text Embeddings Inference 413, and 422 to many.
_MAY_BE_SIZE = (400, 413, 422, 500)
_SIZE_WORDS = re.compile(
    r"context.(length|window|size)|too (large|long|big|many)|input length|[0-9] tokens|"
    r"tokens per request|batch size|in one batch",
    re.IGNORECASE,
)
_SECONDS = re.compile(r"[0-9]+(\.[0-9]*)?")
_NOT_IN_URLS = re.compile(r"[^!-~]")


def _sleep(seconds: float) -> None:
    time.sleep(seconds)


class HttpEmbedder:
    """Vectors from OpenAI, Ollama, vLLM, LM Studio and others, by ``POST {url}/embeddings``.

    - ``url``: what stands before ``/embeddings``, such as ``http://localhost:11434/v1``.
      A name and a password in it are sent as basic authentication.
    - ``api_key``: unset, the environment variable ``OPENAI_API_KEY`` is read at each
      call, whatever the server; ``""`` sends none.
    - ``dimensions``: sent only when given; a server that answers others is refused.
    - ``ceiling``: unset, known for the three ``text-embedding`` models of OpenAI
      as 8,191 UTF-8 bytes, which are never more than their 8,191 tokens;
      ``cap(8191, tokens("cl100k_base"))`` is the exact one. Else None.
    - ``batch_size``: the most texts a request, 1 and up; a request also ends
      before 200,000 code points.
    - ``timeout``: seconds to connect, to wait for an answer and to read it, each.
    - ``attempts``: how often a request is sent when the connection fails or the
      server is busy (429, 500, 502, 503, 504). The waits are 0.25 s, doubled up
      to 8 s, or what the server asks for, up to 60 s.
    - ``id``: unset, the model, the host and the dimensions given. Give one to
      keep vectors when the server moves, or to tell two models of one name apart.

    Redirects are not followed. Proxies come from the environment, never for this
    machine itself. Threads may share one. A call opens one connection a request.

    >>> HttpEmbedder("nomic-embed-text", url="http://localhost:11434/v1").id
    'nomic-embed-text@localhost:11434'
    """

    __slots__ = ("_asked", "_ceiling", "_id", "_learned", "_server", "batch_size", "model")

    def __init__(
        self,
        model: str,
        *,
        url: str = "https://api.openai.com/v1",
        api_key: str | None = None,
        dimensions: int | None = None,
        ceiling: Cap | None = None,
        batch_size: int = 64,
        timeout: float = 30.0,
        attempts: int = 3,
        id: str | None = None,  # noqa: A002  the word of the protocol
    ) -> None:
        for option, name in (("model", model), ("id", model if id is None else id)):
            if not isinstance(name, str) or not name.strip() or not name.isprintable():
                raise OptionError(f"{option}={shown(name)} is no name; give one of printable text")
        _check_whole("batch_size", batch_size)
        _check_whole("dimensions", 1 if dimensions is None else dimensions)
        if ceiling is not None and not isinstance(ceiling, Cap):
            raise OptionError(
                f"ceiling={shown(ceiling)} is no cap; pass cap(8191, tokens(...)) or leave it unset"
            )
        self.model = model
        self.batch_size = batch_size
        self._asked = dimensions
        self._server = _Server.at(url, model, api_key, timeout, attempts)
        self._learned = 0
        self._ceiling = ceiling or (_CEILING if model in _KNOWN_MODELS else None)
        own = f"{model}@{self._server.host}" + (f"?dimensions={dimensions}" if dimensions else "")
        self._id = own if id is None else id

    def __repr__(self) -> str:
        return f"HttpEmbedder({self.model!r}, url={self._server.url!r})"

    @property
    def id(self) -> str:
        """The name of the model and of all that decides its vectors, never a key."""
        return self._id

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has; one short text is embedded when nobody said yet."""
        return self._asked or self._learned or len(self._ask(self._server.call(), ["a"], [0])[0])

    @property
    def ceiling(self) -> Cap | None:
        """The most the model reads of one text; None when nobody knows."""
        return self._ceiling

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text, in order; a blank text is a vector of zeros and is not sent.

        A lone surrogate is sent as U+FFFD. A batch refused for its size is sent
        again in halves. Raises `EmbedderError`; a text too long is named.
        """
        texts = checked_texts(texts)
        found: dict[int, list[float]] = {}
        filled = inked(texts)
        if filled:
            call = self._server.call()
            for batch in self._batches(texts, filled):
                found.update(zip(batch, self._ask(call, texts, batch), strict=True))
        length = self.dimensions if len(found) < len(texts) else 0
        return [found[i] if i in found else [0.0] * length for i in range(len(texts))]

    def _batches(self, texts: Sequence[str], filled: list[int]) -> Iterator[list[int]]:
        """The places of the texts of each request."""
        batch: list[int] = []
        size = 0
        for i in filled:
            size += len(texts[i])
            if batch and (len(batch) == self.batch_size or size > _BATCH_CHARS):
                yield batch
                batch, size = [], len(texts[i])
            batch.append(i)
        yield batch

    def _ask(self, call: _Call, texts: Sequence[str], batch: list[int]) -> list[list[float]]:
        """The vectors of the texts at some places."""
        content: dict[str, object] = {
            "model": self.model,
            "input": [readable(texts[i]) for i in batch],
            "encoding_format": "float",
        }
        if self._asked:
            content["dimensions"] = self._asked
        payload = json.dumps(content, ensure_ascii=False).encode()
        try:
            answer = call.post(payload, _ANSWER_BYTES * (len(batch) + 1))
        except _SizeError as refusal:
            half = len(batch) // 2
            if half:
                first = self._ask(call, texts, batch[:half])
                return first + self._ask(call, texts, batch[half:])
            raise call.error(
                f"{refusal} to texts[{batch[0]}] of {len(texts[batch[0]]):,} characters; "
                "a text must be within what the model reads; cut with within(embedder) and a "
                "ceiling that fits, or raise the context length of the server"
            ) from None
        return self._vectors(call, answer, len(batch))

    def _vectors(self, call: _Call, answer: bytes, count: int) -> list[list[float]]:
        """The vectors of an answer in order of its indexes, checked."""
        try:
            content = json.loads(answer)
        except (ValueError, RecursionError):
            content = None
        rows = content.get("data") if isinstance(content, dict) else None
        if not isinstance(rows, list):
            raise call.error(
                f'answered {call.said(answer)}; it must answer JSON with a list "data"; {_PROTOCOL}'
            )
        found: dict[int, list[float]] = {}
        for row in rows:
            index = row.get("index") if isinstance(row, dict) else None
            vector = _numbers(row["embedding"]) if index is not None and "embedding" in row else []
            if type(index) is not int or not vector:
                raise call.error(
                    f'answered {call.shown(row)}; each of "data" must have an "index" and an '
                    f'"embedding" of finite numbers; {_PROTOCOL}, and that the model embeds'
                )
            if index in found or not 0 <= index < count:
                raise call.error(
                    f"answered index {index}{' twice' if index in found else ''}; each from 0 to "
                    f"{count - 1} must come once; try batch_size=1, or report it to its makers"
                )
            found[index] = vector
        if len(found) != count:
            raise call.error(
                f"answered {len(found)} vectors for {count} texts; it must answer one a text; "
                f"lower batch_size={self.batch_size}, or report it to its makers"
            )
        wanted = self._asked or self._learned or len(found[0])
        for vector in found.values():
            if len(vector) != wanted:
                raise call.error(
                    f"answered a vector of {len(vector)} numbers; it must have {wanted} as "
                    f"{'dimensions says' if self._asked else 'the first one had'}; give the "
                    "dimensions of the model, and check that one model alone answers"
                )
        self._learned = wanted
        return [found[i] for i in range(count)]


class _SizeError(Exception):
    """A request was refused for its size."""


class _PassingError(Exception):
    """A failure that may pass: what came, the way out, the seconds the server asks to wait."""

    def __init__(self, said: str, way_out: str, told: float | None = None) -> None:
        super().__init__(said)
        self.way_out = way_out
        self.told = told


@dataclass(frozen=True, slots=True)
class _Server:
    """Where the server is, and how it is asked."""

    url: str
    host: str
    where: str
    basic: str = field(repr=False)
    api_key: str | None = field(repr=False)
    timeout: float
    attempts: int

    @classmethod
    def at(
        cls, url: str, model: str, api_key: str | None, timeout: float, attempts: int
    ) -> _Server:
        """The server at a url, its options checked."""
        _check_whole("attempts", attempts)
        is_number = isinstance(timeout, int | float) and not isinstance(timeout, bool)
        if not is_number or not 0 < timeout <= _LONGEST_TIMEOUT:
            raise OptionError(
                f"timeout={shown(timeout)} is not above 0 and at most {_LONGEST_TIMEOUT} seconds; "
                "give the seconds to wait for an answer"
            )
        parts = _split(url)
        basic, _, netloc = parts.netloc.rpartition("@")
        if basic and api_key is not None:
            raise OptionError("api_key and the name in url exclude each other; pass one of them")
        if api_key is not None and not _can_be_sent(api_key):
            raise OptionError(f"api_key {_UNSENDABLE}; pass the key alone")
        host = netloc.lower().removesuffix(":443" if parts.scheme == "https" else ":80")
        clean = f"{parts.scheme}://{netloc}{parts.path.rstrip('/')}"
        where = f"{shown(model)} at {host}"
        return cls(clean, host, where, unquote(basic), api_key, timeout, attempts)

    def call(self) -> _Call:
        """A call: the key and the proxies are read now."""
        headers = {"Content-Type": "application/json", "User-Agent": "spanwise"}
        if self.basic:
            name, _, password = self.basic.partition(":")
            secret = b64encode(f"{name}:{password}".encode()).decode()
            headers["Authorization"] = f"Basic {secret}"
            secrets = (secret, self.basic, name, password)
            rule = "the name and the password are from url; correct them there"
            return _Call(self, headers, secrets, rule)
        rule = "the key is from api_key; pass a valid one"
        key = self.api_key
        if key is None:
            key = os.environ.get(_KEY_VARIABLE, "")
            rule = f"the key is from the variable {_KEY_VARIABLE}; set a valid one, or pass api_key"
            if not _can_be_sent(key):
                raise EmbedderError(f"{_KEY_VARIABLE} {_UNSENDABLE}; set it to the key alone")
        # A key read from a file ends with a line feed.
        key = key.strip()
        if key:
            headers["Authorization"] = f"Bearer {key}"
        else:
            rule = f"no key was sent; pass api_key, or set {_KEY_VARIABLE}"
        return _Call(self, headers, (key,), rule)


class _Call:
    """One call to a server: it sends, waits and says what went wrong."""

    __slots__ = ("headers", "key_rule", "opener", "secrets", "server")

    def __init__(
        self, server: _Server, headers: dict[str, str], secrets: Sequence[str], key_rule: str
    ) -> None:
        self.server = server
        self.headers = headers
        self.secrets = secrets
        self.key_rule = key_rule
        self.opener = _opener(server.url)

    def post(self, payload: bytes, most: int) -> bytes:
        """The body of the answer, at most ``most`` bytes; `_SizeError` when refused for size."""
        attempts = self.server.attempts
        wait = _FIRST_WAIT
        for attempt in range(1, attempts + 1):
            try:
                return self._answer(payload, most)
            except _PassingError as fault:
                failure = fault
            if attempt < attempts:
                _sleep(wait if failure.told is None else failure.told)
                wait = min(2 * wait, _LONGEST_WAIT)
        raise self.error(
            f"{failure}, in the last of {attempts} attempts; an answer must come in one of them; "
            f"{failure.way_out}, or raise attempts={attempts}"
        )

    def _answer(self, payload: bytes, most: int) -> bytes:
        """The body of the answer to a request sent once."""
        seconds = self.server.timeout
        request = Request(f"{self.server.url}/embeddings", payload, self.headers, method="POST")
        try:
            with self.opener.open(request, timeout=seconds) as response:
                if not 200 <= response.status < 300:
                    body = _read_refusal(response, seconds)
                    raise self._refused(response.status, response.headers, body)
                body = _read(response, most, seconds)
        except (OSError, HTTPException, ValueError) as fault:
            raise self._failed(fault) from None
        if len(body) > most:
            raise self.error(
                f"answered more than {most:,} bytes; an answer must hold one vector a text; "
                f"{_PROTOCOL}"
            )
        return body

    def _failed(self, fault: Exception) -> Exception:
        """What to raise when no whole answer came."""
        reason = fault.reason if isinstance(fault, URLError) else fault
        if isinstance(reason, TimeoutError):
            seconds = self.server.timeout
            way_out = f"raise timeout={seconds}, lower batch_size"
            return _PassingError(f"gave no whole answer within {seconds} s", way_out)
        if isinstance(reason, gaierror):
            return _PassingError(f"was not found by its name ({reason.strerror})", _NETWORK)
        if isinstance(reason, ssl.SSLError) and not isinstance(reason, ssl.SSLEOFError):
            return self.error(
                f"failed in TLS, {self.shown(str(reason))}; https needs a certificate that this "
                "machine trusts; set SSL_CERT_FILE to it, or give an http url where there is none"
            )
        if isinstance(reason, IncompleteRead):
            return _PassingError("closed the connection inside its answer", _NETWORK)
        if isinstance(reason, OSError):
            return _PassingError(f"was not reached ({reason.strerror or reason})", _NETWORK)
        # The text of these may hold the password of a proxy.
        return self.error(
            f"was not asked or answered no HTTP ({type(fault).__name__}); it and a proxy must "
            f"speak HTTP; {_NETWORK}"
        )

    def _refused(self, status: int, headers: Message, body: bytes) -> Exception:
        """What to raise for an answer that is no success."""
        said = f"answered {status} {self.said(body)}"
        if status == 413 or (status in _MAY_BE_SIZE and _SIZE_WORDS.search(_message(body))):
            return _SizeError(said)
        if status in _RETRIED:
            told = _told(headers)
            if told is not None and told > _LONGEST_TOLD:
                return self.error(
                    f"{said} and asks to wait {told:,.0f} s; at most {_LONGEST_TOLD:.0f} s are "
                    "waited; try again later, or raise the limits of the account"
                )
            way_out = "send less at a time" if status == 429 else "read the log of the server"
            return _PassingError(said, way_out, told)
        if 300 <= status < 400:
            return self.error(
                f"answered {status}, a redirect to {self.shown(_bare(headers['location']))}; none "
                "is followed, so that no key goes astray; pass the url it moved to"
            )
        if status in (401, 403):
            return self.error(f"{said}; {self.key_rule}")
        if status in (404, 405):
            return self.error(
                f"{said}; {self.server.url}/embeddings must be there and have the model; "
                "check model and url (it often ends with /v1)"
            )
        return self.error(
            f"{said}; it must take the model, texts and dimensions where given; "
            "check model, dimensions and url"
        )

    def error(self, text: str) -> EmbedderError:
        """An error that begins with the model and the host."""
        return EmbedderError(f"{self.server.where} {text}")

    def said(self, body: bytes) -> str:
        """The message in an answer, short and without the key."""
        return self.shown(_message(body))

    def shown(self, value: object) -> str:
        """Something received, short and without the key."""
        text = value if isinstance(value, str) else repr(value)
        for secret in filter(None, self.secrets):
            text = text.replace(secret, "***")
        return shown(text, _SAID_CHARS)


def _can_be_sent(key: object) -> bool:
    return isinstance(key, str) and key.strip().isascii() and key.strip().isprintable()


def _numbers(value: object) -> list[float]:
    """The numbers of a vector; empty when it is no list of finite ones."""
    # By type: a string and a boolean would pass for numbers with float().
    if not isinstance(value, list) or not set(map(type, value)) <= {int, float}:
        return []
    try:
        numbers = list(map(float, value))
    except OverflowError:
        return []
    return numbers if all(map(isfinite, numbers)) else []


def _check_whole(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise OptionError(
            f"{name}={shown(value)} is not a whole number of at least 1; give 1 or more"
        )


def _split(url: object) -> SplitResult:
    """The parts of a url that can be asked; `OptionError` says what keeps one from it."""
    way_out = "give what stands before /embeddings, such as http://localhost:11434/v1"
    if not isinstance(url, str):
        raise OptionError(f"url={shown(url)} is no string; {way_out}")
    fault = ""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        # Asked for its check; labels are checked by the codec.
        _ = parts.port, host.encode("idna")
    except ValueError:
        fault = "holds no valid host and port"
    else:
        if _NOT_IN_URLS.search(url):
            fault = "holds white space or characters beyond ASCII"
        elif parts.scheme not in ("http", "https"):
            fault = "is not http or https"
        elif not host:
            fault = "names no host"
        elif "?" in url or "#" in url:
            fault = "holds a query or a fragment"
    if fault:
        raise OptionError(f"url={shown(re.sub('//.*@', '//***@', url))} {fault}; {way_out}")
    return parts


def _opener(url: str) -> OpenerDirector:
    """What sends requests: it follows no redirect and raises for no status."""
    host = urlsplit(url).hostname or ""
    proxies = {} if _is_here(host) else getproxies()
    opener = OpenerDirector()
    opener.add_handler(UnknownHandler())
    opener.add_handler(ProxyHandler(proxies))
    opener.add_handler(HTTPHandler())
    # Reading the certificates of a machine takes 10 ms or more.
    if proxies or url.startswith("https:"):
        opener.add_handler(HTTPSHandler(context=ssl.create_default_context()))
    return opener


def _is_here(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        address = ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return address.is_loopback or address.is_unspecified


def _read(response: HTTPResponse, most: int, seconds: float) -> bytes:
    """The body, or a little more than ``most`` bytes of it."""
    end = time.monotonic() + seconds
    # Counted here: some versions of read1() do not, and none says that bytes are missing.
    left = response.length
    pieces: list[bytes] = []
    size = 0
    while size <= most and left != 0:
        piece = response.read1(_PIECE_BYTES if left is None else min(_PIECE_BYTES, left))
        if not piece:
            if left:
                raise IncompleteRead(b"", left)
            break
        pieces.append(piece)
        size += len(piece)
        left = left - len(piece) if left is not None else None
        # The time-out of a socket starts anew with each piece.
        if time.monotonic() > end:
            raise TimeoutError
    return b"".join(pieces)


def _read_refusal(response: HTTPResponse, seconds: float) -> bytes:
    """What can be read of a body that is only shown."""
    try:
        return _read(response, _REFUSAL_BYTES, seconds)
    except (OSError, HTTPException):
        return b""


def _message(body: bytes) -> str:
    """What a server says in a body: its error message, else all of it."""
    text = body[:_REFUSAL_BYTES].decode("utf-8", "replace")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    for name in ("error", "message", "detail"):
        if isinstance(found, dict) and found.get(name):
            found = found[name]
    return found if isinstance(found, str) else text


def _told(headers: Message) -> float | None:
    """The seconds a server asks to wait; None when it does not say."""
    for name, unit in (("retry-after-ms", 1000), ("retry-after", 1)):
        value = headers.get(name, "").strip()
        if _SECONDS.fullmatch(value):
            return float(value) / unit
    until = _seconds_of(headers.get("retry-after"))
    if until is None:
        return None
    # Its own clock, where it says: two clocks differ.
    now = _seconds_of(headers.get("date"))
    return max(0.0, until - (time.time() if now is None else now))


def _seconds_of(date: str | None) -> float | None:
    try:
        found = parsedate_to_datetime(date or "")
    except (TypeError, ValueError, OverflowError):
        return None
    return (found if found.tzinfo else found.replace(tzinfo=timezone.utc)).timestamp()


def _bare(location: str | None) -> str:
    """Where a redirect leads, without a name, a password and a query."""
    return re.sub("//[^/]*@", "//", re.split("[?#]", location or "", maxsplit=1)[0])
