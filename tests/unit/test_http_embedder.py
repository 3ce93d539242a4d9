"""HttpEmbedder against a server on this machine that answers, stumbles and lies."""

from __future__ import annotations

import json
import pickle
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from hostile import PIECES

from spanwise.cutting.caps import Cap, cap
from spanwise.cutting.sizers import utf8_bytes, words
from spanwise.embedders import transport
from spanwise.embedders.http import HttpEmbedder
from spanwise.embedders.texts import inked
from spanwise.errors import EmbedderError, OptionError

KEY = "sk-secret-0123456789"


def vector_of(text: str, dimensions: int = 4) -> list[float]:
    """What the server answers: its numbers tell texts apart."""
    codes = [ord(char) for char in text]
    return [len(codes) + sum(codes) * (i + 1) % 997 / 1000 for i in range(dimensions)]


class Server(ThreadingHTTPServer):
    """Answers the protocol; ``script`` holds what it does instead, one entry a request."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen: list[dict] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.script: list[Callable[[Handler], None]] = []
        self.most_chars = self.most_texts = 10**9
        self.size_answer = (400, "This model's maximum context length is 9 tokens")
        self.dimensions = 4
        self.over = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    @property
    def inputs(self) -> list[list[str]]:
        return [content["input"] for content in self.seen]

    def handle_error(self, *args: object) -> None:
        """A client that hangs up is no news."""


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *args: object) -> None:
        pass

    def do_CONNECT(self) -> None:
        self.server.script.pop(0)(self)

    def do_POST(self) -> None:
        server = self.server
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        server.seen.append(json.loads(raw.decode("utf-8")))
        server.headers.append(dict(self.headers))
        server.paths.append(self.path)
        if server.script:
            server.script.pop(0)(self)
            return
        texts = server.seen[-1]["input"]
        if len(texts) > server.most_texts or max(map(len, texts)) > server.most_chars:
            status, message = server.size_answer
            self.answer(status, {"error": {"message": message}})
            return
        length = server.seen[-1].get("dimensions", server.dimensions)
        self.answer(200, rows(*[vector_of(text, length) for text in texts]))

    def answer(self, status: int, content: object, **headers: str) -> None:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response_only(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)


def rows(*vectors: object) -> dict:
    data = [{"index": i, "embedding": vector} for i, vector in enumerate(vectors)]
    return {"object": "list", "data": data}


def answers(status: int, content: object = b"", **headers: str) -> Callable[[Handler], None]:
    return lambda handler: handler.answer(status, content, **headers)


def sends(raw: bytes) -> Callable[[Handler], None]:
    return lambda handler: handler.wfile.write(raw)


def is_silent(handler: Handler) -> None:
    handler.server.over.wait(10)


@pytest.fixture
def start() -> Iterator[Callable[[], Server]]:
    running: list[tuple[Server, threading.Thread]] = []

    def run() -> Server:
        server = Server()
        thread = threading.Thread(target=server.serve_forever, args=(0.005,), daemon=True)
        thread.start()
        running.append((server, thread))
        return server

    yield run
    for server, thread in running:
        server.over.set()
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def server(start: Callable[[], Server]) -> Server:
    return start()


@pytest.fixture(autouse=True)
def sleeps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits asked for, none of which is waited; no key and no proxy is set."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    waited: list[float] = []
    monkeypatch.setattr(transport, "sleep", waited.append)
    return waited


def make(server: Server, **options: object) -> HttpEmbedder:
    return HttpEmbedder("m", **{"url": server.url, "timeout": 5, **options})


def failure(embedder: HttpEmbedder, texts: list[str] | None = None) -> str:
    with pytest.raises(EmbedderError) as caught:
        embedder.embed(["a", "bb"] if texts is None else texts)
    message = str(caught.value)
    assert message.startswith("'m' at ")
    assert message.count("; ") >= 2, "what was received; the rule; the way out"
    return message


def test_vectors_come_in_the_order_of_the_texts(server: Server) -> None:
    texts = [f"text {i}" for i in range(10)]
    assert make(server, batch_size=4).embed(texts) == [vector_of(text) for text in texts]
    assert [len(batch) for batch in server.inputs] == [4, 4, 2]
    assert set(server.paths) == {"/v1/embeddings"}


def test_what_is_sent(server: Server) -> None:
    make(server).embed(["a"])
    make(server, dimensions=3).embed(["a"])
    plain = {"model": "m", "input": ["a"], "encoding_format": "float"}
    assert server.seen == [plain, {**plain, "dimensions": 3}]
    assert "Authorization" not in server.headers[0]


def test_a_batch_is_bounded_by_its_code_points(server: Server) -> None:
    texts = ["a" * 90_000, "b" * 90_000, "c" * 90_000, "d" * 250_000, "e"]
    assert make(server).embed(texts) == [vector_of(text) for text in texts]
    assert [[text[0] for text in batch] for batch in server.inputs] == [
        ["a", "b"],
        ["c"],
        ["d"],
        ["e"],
    ]


def test_a_blank_text_is_zeros_and_is_never_sent(server: Server) -> None:
    embedder = make(server)
    zeros = [0.0] * 4
    assert embedder.embed(["", "a", " \n\t\u3000\ufeff", "b"]) == [
        zeros,
        vector_of("a"),
        zeros,
        vector_of("b"),
    ]
    assert server.inputs == [["a", "b"]]
    assert embedder.embed([]) == []
    assert embedder.embed(["\n"]) == [zeros]
    assert len(server.seen) == 1
    assert make(server, dimensions=2).embed([" "]) == [[0.0, 0.0]]
    assert len(server.seen) == 1
    assert make(server).embed([" "]) == [zeros]
    assert server.inputs[1:] == [["a"]]


def test_hostile_texts_are_sent_as_valid_json(server: Server) -> None:
    texts = [PIECES[i] for i in inked(PIECES) if not "\ud800" <= PIECES[i] <= "\udfff"]
    assert make(server).embed(texts) == [vector_of(text) for text in texts]
    odd = ["a\ud800b\udfff", "\udc00", "\0", "\u2028a", "\x7f\x01"]
    sent = ["a\ufffdb\ufffd", "\ufffd", *odd[2:]]
    assert make(server).embed(odd) == [vector_of(text) for text in sent]
    assert server.inputs[-1] == sent


def test_indexes_in_another_order(server: Server) -> None:
    data = rows([1.0], [2.0], [3.0])["data"]
    server.script = [answers(200, {"data": [data[2], data[0], data[1]]})]
    assert make(server).embed(["a", "b", "c"]) == [[1.0], [2.0], [3.0]]


def test_a_whole_answer_is_read_from_a_server_that_stays_connected(server: Server) -> None:
    def stay(handler: Handler) -> None:
        handler.answer(200, rows([1, 2]))
        is_silent(handler)

    server.script = [stay]
    assert make(server).embed(["a"]) == [[1.0, 2.0]]


def test_a_chunked_answer(server: Server) -> None:
    body = json.dumps(rows([1.5])).encode()
    pieces = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (body[:9], body[9:]))
    raw = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + pieces + b"0\r\n\r\n"
    server.script = [sends(raw)]
    assert make(server).embed(["a"]) == [[1.5]]


def test_dimensions_are_given_or_learned(server: Server) -> None:
    assert make(server, dimensions=7).dimensions == 7
    assert not server.seen
    embedder = make(server)
    assert (embedder.dimensions, embedder.dimensions) == (4, 4)
    assert len(server.seen) == 1
    used = make(server)
    used.embed(["a"])
    assert used.dimensions == 4
    assert len(server.seen) == 2


def test_the_ceiling_is_the_callers_the_known_one_or_none() -> None:
    assert HttpEmbedder("text-embedding-3-small").ceiling == Cap(8191, utf8_bytes)
    assert HttpEmbedder("text-embedding-3-small", ceiling=cap(9, words)).ceiling == cap(9, words)
    assert HttpEmbedder("m").ceiling is None


def test_the_id_names_what_decides_vectors() -> None:
    url = "HTTPS://name:pass@Example.com:443/v1/"
    assert HttpEmbedder("m", url=url).id == "m@example.com"
    assert HttpEmbedder("m", api_key=KEY).id == "m@api.openai.com"
    assert HttpEmbedder("m", url="http://[::1]:80").id == "m@[::1]"
    assert HttpEmbedder("m", url="http://h:81", dimensions=3).id == "m@h:81?dimensions=3"
    assert HttpEmbedder("m", dimensions=3, id="mine").id == "mine"


def test_where_the_key_comes_from(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder, own = make(server), make(server, api_key=f"{KEY}\n")
    monkeypatch.setenv("OPENAI_API_KEY", "of the environment\n")
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    named = make(server, url=server.url.replace("//", "//me:p%40ss@"))
    token = make(server, url=server.url.replace("//", "//token@"))
    for each in (embedder, own, make(server, api_key=""), named, token):
        each.embed(["a"])
    assert [headers.get("Authorization") for headers in server.headers] == [
        "Bearer of the environment",
        f"Bearer {KEY}",
        None,
        "Basic bWU6cEBzcw==",
        "Basic dG9rZW46",
    ]


OPENAI_ALONE = (
    "no key was sent: OPENAI_API_KEY is for api.openai.com and the url in OPENAI_BASE_URL alone; "
    "pass api_key, or set OPENAI_BASE_URL to this url"
)


@pytest.mark.parametrize(
    ("url", "base", "is_sent"),
    [
        ("http://api.openai.com/v1", "", True),
        ("http://API.OpenAI.com:80/other", "", True),
        ("http://embed.invalid/v1", "http://embed.invalid/v1", True),
        ("http://Embed.invalid/v1/", " http://embed.invalid/v1\n", True),
        ("http://embed.invalid/v1", "http://embed.invalid/v1/", True),
        ("http://embed.invalid/v1", "", False),
        ("http://embed.invalid", "/", False),
        ("http://embed.invalid/v1", "http://embed.invalid/v2", False),
        ("http://embed.invalid:81/v1", "http://embed.invalid/v1", False),
        ("http://embed.invalid/v1", "http://[", False),
        ("http://api.openai.com.invalid/v1", "", False),
        ("http://my.api.openai.com/v1", "", False),
        ("http://embed.invalid/api.openai.com", "", False),
        ("http://api.openai.com\\.embed.invalid/v1", "", False),
    ],
)
def test_the_key_of_the_environment_goes_to_its_own_server_alone(
    server: Server, monkeypatch: pytest.MonkeyPatch, url: str, base: str, is_sent: bool
) -> None:
    # A proxy sees what any server would.
    monkeypatch.setenv("http_proxy", server.url.removesuffix("/v1"))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", base)
    server.script = [answers(401)] * 3
    message = failure(HttpEmbedder("m", url=url))
    assert server.headers[0].get("Authorization") == (f"Bearer {KEY}" if is_sent else None)
    assert ("the key is from the variable OPENAI_API_KEY" in message) == is_sent
    assert (OPENAI_ALONE in message) != is_sent
    failure(HttpEmbedder("m", url=url, api_key="own"))
    assert server.headers[1]["Authorization"] == "Bearer own"
    assert "no key was sent, as api_key is empty" in failure(
        HttpEmbedder("m", url=url, api_key=" ")
    )
    assert "Authorization" not in server.headers[2]


def test_a_key_of_the_environment_that_is_not_sent_is_not_checked(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a\r\nb")
    assert make(server).embed(["a"]) == [vector_of("a")]


def test_a_password_that_holds_the_name_is_never_shown(server: Server) -> None:
    server.script = [answers(401, {"error": {"message": "no user has the password me-word"}})]
    message = failure(make(server, url=server.url.replace("//", "//me:me-word@")))
    assert "the password ***'" in message


def test_a_key_is_never_shown(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    own = make(server, api_key=KEY)
    named = make(server, url=server.url.replace("//", f"//me:{KEY}@"))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    for embedder in (own, named, make(server)):
        for script in (
            answers(401, {"error": {"message": f"wrong key {KEY}"}}),
            answers(200, {"data": [KEY]}),
            answers(302, Location=f"http://x.example/{KEY}"),
            answers(400, f"Bearer {KEY}".encode()),
        ):
            server.script = [script]
            message = failure(embedder)
            assert KEY not in message
            assert "***" in message
        assert KEY not in repr(embedder) + embedder.id
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\r\nX: y")
    with pytest.raises(EmbedderError, match="OPENAI_API_KEY must be text of printable") as caught:
        make(server).embed(["a"])
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_refused(
    server: Server, status: int, monkeypatch: pytest.MonkeyPatch, sleeps: list[float]
) -> None:
    refusal = answers(status, {"error": {"message": "no access"}})
    server.script = [refusal] * 5
    assert f"answered {status} 'no access'; {OPENAI_ALONE}" in failure(make(server))
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    assert "no key was sent; pass api_key, or set OPENAI_API_KEY" in failure(make(server))
    assert "the key is from api_key" in failure(make(server, api_key=KEY))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert "the key is from the variable OPENAI_API_KEY" in failure(make(server))
    named = make(server, url=server.url.replace("//", "//me:word@"))
    assert "the name and the password are from url" in failure(named)
    assert len(server.seen) == 5
    assert not sleeps


@pytest.mark.parametrize(
    ("status", "content", "said"),
    [
        (404, {"error": "model 'm' not found"}, "answered 404 \"model 'm' not found\""),
        (405, b"", "must be there and have the model"),
        (400, {"error": {"message": "no such field"}}, "answered 400 'no such field'"),
        (422, {"detail": [{"msg": "bad"}]}, "answered 422"),
        (409, b"\xff\xfe<html>", "answered 409"),
        (418, b"[" * 50_000, "answered 418"),
    ],
)
def test_refusals_that_do_not_pass(
    server: Server, status: int, content: object, said: str, sleeps: list[float]
) -> None:
    server.script = [answers(status, content)]
    message = failure(make(server))
    assert said in message
    assert "check model" in message
    assert len(message) < 500
    assert (len(server.seen), sleeps) == (1, [])


def test_the_refusal_of_a_body_cut_short_keeps_its_status(server: Server) -> None:
    server.script = [sends(b"HTTP/1.1 404 Not Found\r\nContent-Length: 99\r\n\r\nno")]
    assert "answered 404" in failure(make(server))


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_what_passes_is_tried_again(server: Server, status: int, sleeps: list[float]) -> None:
    server.script = [answers(status, {"error": {"message": "busy"}})] * 2
    assert make(server).embed(["a"]) == [vector_of("a")]
    assert sleeps == [0.25, 0.5]
    server.script = [answers(status, {"error": {"message": "busy"}})] * 3
    message = failure(make(server))
    assert f"answered {status} 'busy', in the last of 3 attempts" in message
    assert "raise attempts=3" in message


@pytest.mark.parametrize("message", ["too many open files", "Too many connections"])
def test_a_busy_server_is_not_taken_for_a_long_text(
    server: Server, message: str, sleeps: list[float]
) -> None:
    server.script = [answers(500, {"error": {"message": message}})]
    assert make(server).embed(["a", "b"]) == [vector_of("a"), vector_of("b")]
    assert (len(server.seen), sleeps) == (2, [0.25])


def test_waits_double_up_to_eight_seconds(server: Server, sleeps: list[float]) -> None:
    server.script = [answers(503)] * 8
    assert "8 attempts" in failure(make(server, attempts=8))
    assert sleeps == [0.25, 0.5, 1, 2, 4, 8, 8]


THEN = 1_700_000_000


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"Retry_After": "7"}, 7),
        ({"Retry_After": " 1.5 "}, 1.5),
        ({"Retry_After": "60"}, 60),
        ({"Retry_After": "0"}, 0),
        ({"retry_after_ms": "20", "Retry_After": "1"}, 0.02),
        ({"Retry_After": formatdate(THEN + 9, usegmt=True), "Date": formatdate(THEN)}, 9),
        ({"Retry_After": formatdate(THEN, usegmt=True)}, 0),
        ({"Retry_After": "-1"}, 0.25),
        ({"Retry_After": "soon"}, 0.25),
        ({"Retry_After": "nan", "retry_after_ms": "inf"}, 0.25),
        ({"Retry_After": "Mon, 01 Jan 99999 00:00:00 GMT"}, 0.25),
    ],
)
def test_a_server_says_how_long_to_wait(
    server: Server, headers: dict[str, str], wait: float, sleeps: list[float]
) -> None:
    server.script = [answers(429, b"slow down", **headers)]
    assert make(server).embed(["a"]) == [vector_of("a")]
    assert sleeps == [wait]


@pytest.mark.parametrize("told", ["61", "9" * 400, formatdate(THEN + 3600, usegmt=True)])
def test_a_wait_too_long_is_an_error_at_once(
    server: Server, told: str, sleeps: list[float]
) -> None:
    server.script = [answers(429, b"slow down", Retry_After=told, Date=formatdate(THEN))]
    message = failure(make(server))
    assert "answered 429 'slow down' and asks to wait" in message
    assert "at most 60 s" in message
    assert (len(server.seen), sleeps) == (1, [])


@pytest.mark.parametrize(
    "answer",
    [
        (400, "This model's maximum context length is 9 tokens, you requested 20"),
        (400, "the input length exceeds the context length"),
        (413, "`inputs` must have less than 9 tokens. Given: 20"),
        (413, ""),
        (500, "input is too large to process. increase the physical batch size"),
    ],
)
def test_a_text_too_long_is_named(
    server: Server, answer: tuple[int, str], sleeps: list[float]
) -> None:
    server.most_chars, server.size_answer = 10, answer
    texts = ["", *"abcde", "f" * 1234, *"ghi"]
    message = failure(make(server), texts)
    assert f"answered {answer[0]}" in message
    assert "to texts[6] of 1,234 characters" in message
    assert "cut with within(embedder)" in message
    assert not sleeps
    assert len(server.seen) <= 2 * 4, "halves, not one by one"


def test_a_batch_too_large_is_sent_in_halves(server: Server) -> None:
    server.most_texts, server.size_answer = 3, (422, "batch size 10 > maximum allowed batch size 3")
    texts = [f"text {i}" for i in range(10)]
    assert make(server).embed(texts) == [vector_of(text) for text in texts]
    assert [len(batch) for batch in server.inputs] == [10, 5, 2, 3, 5, 2, 3]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"<html>", "answered '<html>'; it must answer JSON"),
        (b"", "answered ''"),
        (b"[" * 100_000, "must answer JSON"),
        (b"\xff", "must answer JSON"),
        (b'{"data": [' + b"1" * 5000 + b"]}", '"data"'),
        ({"error": "Unexpected endpoint or method. (POST /embeddings)"}, "'Unexpected endpoint"),
        ([], 'a list "data"'),
        ({"data": {}}, 'a list "data"'),
        ({"data": ["a", "b"]}, "answered 'a'; each of"),
        ({"data": [{"embedding": [1]}]}, "must have an"),
        ({"data": [{"index": 0}]}, "must have an"),
        ({"data": [{"index": "0", "embedding": [1]}]}, "must have an"),
        ({"data": [{"index": True, "embedding": [1]}]}, "must have an"),
        (rows("AACAPw==", [1.0]), "of finite numbers"),
        (rows([], []), "of finite numbers"),
        (rows([1.0, None], [1.0, 2.0]), "of finite numbers"),
        (rows([1.0, "2"], [1.0, 2.0]), "of finite numbers"),
        (rows([1.0, True], [1.0, 2.0]), "of finite numbers"),
        (rows([1.0, float("nan")], [1.0, 2.0]), "of finite numbers"),
        (rows([1.0, float("inf")], [1.0, 2.0]), "of finite numbers"),
        (rows([1.0, 10**400], [1.0, 2.0]), "of finite numbers"),
        (rows([1.0]), "answered 1 vectors for 2 texts"),
        (rows(), "answered 0 vectors for 2 texts"),
        (rows([1.0], [1.0], [1.0]), "index 2; each from 0 to 1"),
        ({"data": [rows([1.0])["data"][0]] * 2}, "index 0 twice"),
        ({"data": [{"index": -1, "embedding": [1.0]}]}, "index -1"),
        ({"data": [{"index": 10**4000, "embedding": [1.0]}]}, "each from 0 to 1"),
        (rows([1.0, 2.0], [1.0]), "a vector of 1 numbers; it must have 2"),
    ],
)
def test_answers_that_are_no_vectors(
    server: Server, body: object, said: str, sleeps: list[float]
) -> None:
    server.script = [answers(200, body)]
    message = failure(make(server))
    assert said in message
    assert len(message) < 500
    assert (len(server.seen), sleeps) == (1, [])


def test_dimensions_that_are_not_the_ones_asked_for_or_learned(server: Server) -> None:
    server.script = [answers(200, rows([1.0, 2.0]))]
    message = failure(make(server, dimensions=3), ["a"])
    assert "a vector of 2 numbers; it must have 3 as dimensions says" in message
    embedder = make(server)
    embedder.embed(["a"])
    server.dimensions = 5
    assert "5 numbers; it must have 4 as the first one had" in failure(embedder, ["a"])


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
    ],
)
def test_a_connection_closed_inside_the_answer(
    server: Server, raw: bytes, sleeps: list[float]
) -> None:
    server.script = [sends(raw)]
    assert make(server).embed(["a"]) == [vector_of("a")]
    assert sleeps == [0.25]
    server.script = [sends(raw)] * 3
    message = failure(make(server))
    assert "closed the connection inside its answer, in the last of 3 attempts" in message


def test_a_connection_closed_without_an_answer(server: Server, sleeps: list[float]) -> None:
    server.script = [sends(b"")]
    assert make(server).embed(["a"]) == [vector_of("a")]
    assert sleeps == [0.25]


def test_a_server_that_is_silent(server: Server, sleeps: list[float]) -> None:
    server.script = [is_silent] * 2
    message = failure(make(server, timeout=0.05, attempts=2))
    assert "no whole answer within 0.05 s, in the last of 2 attempts" in message
    assert "raise timeout=0.05" in message
    assert sleeps == [0.25]


def test_an_answer_that_never_ends(server: Server) -> None:
    def drip(handler: Handler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
        for _ in range(400):
            handler.wfile.write(b" ")
            if handler.server.over.wait(0.005):
                break

    def pour(handler: Handler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while not handler.server.over.is_set():
            handler.wfile.write(b" " * 65_536)

    server.script = [drip, pour]
    assert "no whole answer within" in failure(make(server, timeout=0.1, attempts=1))
    assert "answered more than 2,097,152 bytes" in failure(make(server), ["a"])


def test_no_server_at_the_port(sleeps: list[float]) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}/v1"
        message = failure(HttpEmbedder("m", url=url))
    assert "was not reached (" in message
    assert "in the last of 3 attempts" in message
    assert sleeps == [0.25, 0.5]


def test_a_host_without_an_address(sleeps: list[float]) -> None:
    # Longer than a name may be, so no name server is asked.
    message = failure(HttpEmbedder("m", url=f"http://{('a' * 60 + '.') * 5}invalid/v1"))
    assert "was not found by its name" in message
    assert sleeps == [0.25, 0.5]


def test_tls_that_fails(server: Server, sleeps: list[float]) -> None:
    message = failure(make(server, url=server.url.replace("http:", "https:")))
    assert "failed in TLS" in message
    assert "http url" in message
    assert not sleeps


def test_tls_that_is_cut_off_is_tried_again(sleeps: list[float]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def hang_up() -> None:
            for _ in range(2):
                with listener.accept()[0] as connection:
                    connection.recv(65_536)

        thread = threading.Thread(target=hang_up, daemon=True)
        thread.start()
        url = f"https://127.0.0.1:{listener.getsockname()[1]}/v1"
        message = failure(HttpEmbedder("m", url=url, attempts=2, timeout=5))
        thread.join(5)
    assert "was not reached (" in message
    assert sleeps == [0.25]


def test_an_answer_that_is_no_http(server: Server, sleeps: list[float]) -> None:
    server.script = [sends(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")]
    assert "answered no HTTP (BadStatusLine)" in failure(make(server))
    assert not sleeps


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed(start: Callable[[], Server], status: int) -> None:
    server, other = start(), start()
    there = f"http://me:word@localhost:{other.server_port}/v1/embeddings?token=word"
    server.script = [answers(status, Location=there)]
    message = failure(make(server, api_key=KEY))
    assert f"a redirect to 'http://localhost:{other.server_port}/v1/embeddings'" in message
    assert "word" not in message
    assert not other.seen
    server.script = [answers(status)]
    assert "a redirect to ''" in failure(make(server))


def test_a_proxy_of_the_environment(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", server.url.removesuffix("/v1"))
    far = HttpEmbedder("m", url="http://embed.invalid/v1")
    assert far.embed(["a"]) == [vector_of("a")]
    assert server.paths == ["http://embed.invalid/v1/embeddings"]
    monkeypatch.setenv("no_proxy", "embed.invalid.example")
    far.embed(["a"])
    assert len(server.paths) == 2


def test_no_proxy_for_this_machine(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    assert make(server).embed(["a"]) == [vector_of("a")]
    local = make(server, url=f"http://localhost:{server.server_port}/v1")
    assert local.embed(["a"]) == [vector_of("a")]


def test_a_proxy_that_refuses(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", server.url.removesuffix("/v1"))
    server.script = [sends(b"HTTP/1.1 403 " + b"no " * 9000 + b"\r\n\r\n")]
    message = failure(HttpEmbedder("m", url="https://embed.invalid/v1", attempts=1))
    assert "Tunnel connection failed: 403 no" in message
    assert len(message) < 500


@pytest.mark.parametrize("proxy", ["socks5://me:word@127.0.0.1:1", "http:word", "http://h:word"])
def test_a_proxy_that_cannot_be_asked(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    monkeypatch.setenv("http_proxy", proxy)
    message = failure(HttpEmbedder("m", url="http://embed.invalid/v1"))
    assert "proxies of the environment" in message
    assert "word" not in message


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"url": "ftp://h/v1"}, "url='ftp://h/v1' is not http or https; give"),
        ({"url": "localhost:11434/v1"}, "is not http or https"),
        ({"url": ""}, "is not http or https"),
        ({"url": "http:///v1"}, "names no host"),
        ({"url": "http://:80"}, "names no host"),
        ({"url": "http://h:port/v1"}, "no valid host and port"),
        ({"url": "http://h:99999"}, "no valid host and port"),
        ({"url": "http://[::1"}, "no valid host and port"),
        ({"url": "http://a..b"}, "no valid host and port"),
        ({"url": f"http://{'a' * 64}.example"}, "no valid host and port"),
        ({"url": "http://h/v1 "}, "white space"),
        ({"url": "http://h/\r\nv1"}, "white space"),
        ({"url": "http://h/é"}, "beyond ASCII"),
        ({"url": "http://h/v1?key=1"}, "a query"),
        ({"url": "http://h/v1#a"}, "a fragment"),
        ({"url": None}, "url=None is no string"),
        ({"url": "http://me:w/ord@h"}, r"url='http://\*\*\*@h' holds"),
        ({"url": "ftp://me:word@h"}, r"url='ftp://\*\*\*@h' is not"),
        ({"url": "http://me:a-word\n@h"}, r"url='http://\*\*\*@h' holds"),
        ({"url": "http:/me:word@h"}, r"url='\*\*\*@h' names no host"),
        ({"url": "http://h/v1?key=word"}, r"url='http://h/v1\?\*\*\*' holds a query"),
        ({"url": "http://me@h", "api_key": "k"}, "exclude each other"),
        ({"api_key": "word\u20ac"}, "api_key must be text"),
        ({"api_key": "wo\nrd"}, "api_key must be text"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"batch_size": 1.5}, r"batch_size=1\.5"),
        ({"attempts": 0}, "attempts=0"),
        ({"attempts": True}, "attempts=True"),
        ({"dimensions": 0}, "dimensions=0"),
        ({"timeout": 0}, "timeout=0"),
        ({"timeout": float("nan")}, "timeout=nan"),
        ({"timeout": float("inf")}, "timeout=inf"),
        ({"timeout": "1"}, "timeout='1'"),
        ({"ceiling": 512}, "ceiling=512 is no cap"),
        ({"id": ""}, "id=''"),
    ],
)
def test_options_are_checked_when_it_is_made(options: dict, said: str) -> None:
    with pytest.raises(OptionError, match=said) as caught:
        HttpEmbedder("m", **options)
    assert "word" not in str(caught.value)
    assert "ord@" not in str(caught.value)


def test_a_model_and_texts_are_checked(server: Server) -> None:
    for model in ("", " ", "a\nb", "\ud800", None):
        with pytest.raises(OptionError, match="model="):
            HttpEmbedder(model)
    for texts in ("abc", ["a", None], [b"a"]):
        with pytest.raises(OptionError, match="no list of strings"):
            make(server).embed(texts)


def test_threads_and_processes_may_share_one(server: Server) -> None:
    embedder = make(server, batch_size=2)
    texts = [f"text {i}" for i in range(5)]
    wanted = [vector_of(text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(embedder.embed, [texts] * 16)) == [wanted] * 16
    copy = pickle.loads(pickle.dumps(embedder))
    assert copy.id == embedder.id
    assert copy.embed(texts) == wanted
