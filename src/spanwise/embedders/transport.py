"""One request to a server: sent, tried again, bounded in size, its failures told apart."""

from __future__ import annotations

import json
import os
import re
import ssl
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timezone
from email.message import Message
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPResponse, IncompleteRead
from ipaddress import ip_address
from socket import gaierror
from time import monotonic, sleep, time
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

from spanwise.errors import EmbedderError, OptionError, shown

__all__ = ["PROTOCOL", "Call", "Server", "TooLargeError"]

# The way out where a server answers something else.
PROTOCOL = "check that url speaks the protocol of OpenAI (it often ends with /v1)"
_NETWORK = "check url, that the server runs, and the proxies of the environment"

# The key of the environment, and the servers it is meant for: this host, and this url.
_KEY, _KEY_HOST, _KEY_URL = "OPENAI_API_KEY", "api.openai.com", "OPENAI_BASE_URL"
_UNSENDABLE = "must be text of printable ASCII to stand in a header"

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
    r"context.(length|window|size)|too (large|long|big)|too many (?!connections|open|requests)|"
    r"input length|[0-9] tokens|tokens per request|batch size|in one batch",
    re.IGNORECASE,
)
_SECONDS = re.compile(r"[0-9]+(\.[0-9]*)?")
_NOT_IN_URLS = re.compile(r"[^!-~]")
# Where a url may hold a secret; white space in it is a fault, and no reason to show it.
_SECRET_IN_URL = re.compile(r"(?is)^([a-z]+://)?.*(?=@)|(?<=\?).+")


class TooLargeError(Exception):
    """A request was refused for its size."""


class _PassingError(Exception):
    """A failure that may pass: what came, the way out, the seconds the server asks to wait."""

    def __init__(self, said: str, way_out: str, told: float | None = None) -> None:
        super().__init__(said)
        self.way_out = way_out
        self.told = told


@dataclass(frozen=True, slots=True)
class Server:
    """Where a server is, and how it is asked."""

    url: str
    host: str
    where: str
    basic: str = field(repr=False)
    api_key: str | None = field(repr=False)
    timeout: float
    attempts: int

    @classmethod
    def at(cls, url: str, model: str, api_key: str | None, timeout: float, attempts: int) -> Server:
        """The server at a url; url, key and time-out are checked."""
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

    def call(self) -> Call:
        """A call: the key and the proxies are read now."""
        if self.basic:
            name, _, password = self.basic.partition(":")
            secret = b64encode(f"{name}:{password}".encode()).decode()
            rule = "the name and the password are from url; correct them there"
            return Call(self, f"Basic {secret}", (secret, self.basic, name, password), rule)
        key, rule = self._key()
        return Call(self, f"Bearer {key}" if key else "", (key,), rule)

    def _key(self) -> tuple[str, str]:
        """The key that is sent, empty for none, and what to do when it is refused."""
        # A key read from a file ends with a line feed.
        if self.api_key is not None:
            key = self.api_key.strip()
            said = "the key is from api_key" if key else "no key was sent, as api_key is empty"
            return key, f"{said}; pass a valid one"
        base = os.environ.get(_KEY_URL, "").strip().rstrip("/")
        if urlsplit(self.url).hostname != _KEY_HOST and base.lower() != self.url.lower():
            return "", (
                f"no key was sent: {_KEY} is for {_KEY_HOST} and the url in {_KEY_URL} alone; "
                f"pass api_key, or set {_KEY_URL} to this url"
            )
        key = os.environ.get(_KEY, "").strip()
        if not _can_be_sent(key):
            raise EmbedderError(f"{_KEY} {_UNSENDABLE}; set it to the key alone")
        if not key:
            return "", f"no key was sent; pass api_key, or set {_KEY}"
        return key, f"the key is from the variable {_KEY}; set a valid one, or pass api_key"


class Call:
    """One call to a server: it sends, waits and says what went wrong."""

    __slots__ = ("_headers", "_key_rule", "_opener", "_secrets", "_server")

    def __init__(
        self, server: Server, authorization: str, secrets: Sequence[str], key_rule: str
    ) -> None:
        self._server = server
        self._headers = {"Content-Type": "application/json", "User-Agent": "spanwise"}
        if authorization:
            self._headers["Authorization"] = authorization
        # The longest first: a name may be a part of the password.
        self._secrets = sorted(filter(None, secrets), key=len, reverse=True)
        self._key_rule = key_rule
        self._opener = _opener(server.url)

    def post(self, payload: bytes, most: int) -> bytes:
        """The body of the answer, at most ``most`` bytes; `TooLargeError` when refused for size."""
        attempts = self._server.attempts
        wait = _FIRST_WAIT
        for attempt in range(1, attempts + 1):
            try:
                return self._answer(payload, most)
            except _PassingError as fault:
                failure = fault
            if attempt < attempts:
                sleep(wait if failure.told is None else failure.told)
                wait = min(2 * wait, _LONGEST_WAIT)
        raise self.error(
            f"{failure}, in the last of {attempts} attempts; an answer must come in one of them; "
            f"{failure.way_out}, or raise attempts={attempts}"
        )

    def _answer(self, payload: bytes, most: int) -> bytes:
        """The body of the answer to a request sent once."""
        seconds = self._server.timeout
        request = Request(f"{self._server.url}/embeddings", payload, self._headers, method="POST")
        try:
            with self._opener.open(request, timeout=seconds) as response:
                if not 200 <= response.status < 300:
                    body = _read_refusal(response, seconds)
                    raise self._refused(response.status, response.headers, body)
                body = _read(response, most, seconds)
        except (OSError, HTTPException, ValueError) as fault:
            raise self._failed(fault) from None
        if len(body) > most:
            raise self.error(
                f"answered more than {most:,} bytes; an answer must hold one vector a text; "
                f"{PROTOCOL}"
            )
        return body

    def _failed(self, fault: Exception) -> Exception:
        """What to raise when no whole answer came."""
        reason = fault.reason if isinstance(fault, URLError) else fault
        if isinstance(reason, TimeoutError):
            seconds = self._server.timeout
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
            # A proxy words what it has no number for.
            said = reason.strerror or self.shown(str(reason))
            return _PassingError(f"was not reached ({said})", _NETWORK)
        # The text of these may hold the password of a proxy.
        return self.error(
            f"was not asked or answered no HTTP ({type(fault).__name__}); it and a proxy must "
            f"speak HTTP; {_NETWORK}"
        )

    def _refused(self, status: int, headers: Message, body: bytes) -> Exception:
        """What to raise for an answer that is no success."""
        said = f"answered {status} {self.said(body)}"
        if status == 413 or (status in _MAY_BE_SIZE and _SIZE_WORDS.search(_message(body))):
            return TooLargeError(said)
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
            return self.error(f"{said}; {self._key_rule}")
        if status in (404, 405):
            return self.error(
                f"{said}; {self._server.url}/embeddings must be there and have the model; "
                "check model and url (it often ends with /v1)"
            )
        return self.error(
            f"{said}; it must take the model, texts and dimensions where given; "
            "check model, dimensions and url"
        )

    def error(self, text: str) -> EmbedderError:
        """An error that begins with the model and the host."""
        return EmbedderError(f"{self._server.where} {text}")

    def said(self, body: bytes) -> str:
        """The message in an answer, short and without the key."""
        return self.shown(_message(body))

    def shown(self, value: object) -> str:
        """Something received, short and without the key."""
        text = value if isinstance(value, str) else repr(value)
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return shown(text, _SAID_CHARS)


def _can_be_sent(key: object) -> bool:
    return isinstance(key, str) and key.strip().isascii() and key.strip().isprintable()


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
        masked = _SECRET_IN_URL.sub(lambda found: f"{found[1] or ''}***", url)
        raise OptionError(f"url={shown(masked)} {fault}; {way_out}")
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
    end = monotonic() + seconds
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
        if monotonic() > end:
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
    return max(0.0, until - (time() if now is None else now))


def _seconds_of(date: str | None) -> float | None:
    try:
        found = parsedate_to_datetime(date or "")
    except (TypeError, ValueError, OverflowError):
        return None
    return (found if found.tzinfo else found.replace(tzinfo=timezone.utc)).timestamp()


def _bare(location: str | None) -> str:
    """Where a redirect leads, without a name, a password and a query."""
    return re.sub("//[^/]*@", "//", re.split("[?#]", location or "", maxsplit=1)[0])
