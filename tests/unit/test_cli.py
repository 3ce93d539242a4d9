"""The command line, as a person and as a program meet it.

Run as a script it writes the outputs in docs/cli.md anew.
"""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from tokenizer_makes import minilm_json
from typer.main import get_command

import spanwise
from spanwise.cli import sources as sources_module
from spanwise.cli import strategies
from spanwise.cli.app import app, run
from spanwise.cli.screen import visible

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "cli.md"
HANDBOOK = str(ROOT / "docs" / "samples" / "returns-handbook.md")
COMMAND = [sys.executable, "-c", "from spanwise.cli import main; main()"]
POSIX = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX terminal and shell")

Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run a command line in this process: status, standard output, standard error."""

    def call(*arguments: object) -> tuple[int, str, str]:
        status = run([str(each) for each in arguments])
        return status, *capsys.readouterr()

    return call


def command(*arguments: object, stdin: bytes = b"", **variables: str) -> tuple[int, bytes, bytes]:
    """Run the command in a process of its own."""
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        check=False,
        env={**os.environ, **variables},
        timeout=60,
    )
    return done.returncode, done.stdout, done.stderr


def on_terminal(*arguments: object, columns: int = 80, **variables: str) -> tuple[int, str]:
    """Run the command on a pseudo-terminal: status, and what the terminal was sent."""
    import fcntl  # noqa: PLC0415 - there are none on Windows
    import pty  # noqa: PLC0415
    import termios  # noqa: PLC0415

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    plain = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "NO_COLOR")}
    running = subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**plain, "TERM": "xterm-256color", **variables},
    )
    os.close(theirs)
    sent = b""
    while True:
        try:
            data = os.read(ours, 65536)
        except OSError:
            break
        if not data:
            break
        sent += data
    os.close(ours)
    return running.wait(timeout=60), sent.decode().replace("\r\n", "\n")


def unstyled(sent: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", sent)


def records(out: str | bytes) -> list[dict[str, object]]:
    return [json.loads(line) for line in out.splitlines()]


# chunk ---------------------------------------------------------------------------------------


def test_json_lines_in_a_pipe() -> None:
    status, out, err = command("chunk", HANDBOOK)
    assert status == 0
    text = Path(HANDBOOK).read_text(encoding="utf-8")
    plain = records(out)
    assert plain
    for each in plain:
        assert each["text"] == text[each["start"] : each["end"]]
        assert str(each["citation"]).startswith("returns-handbook.md, line")
    chunks = spanwise.by_heading().split(
        spanwise.Document(text=text, uri=HANDBOOK, media_type="text/markdown")
    )
    assert [spanwise.Chunk.from_dict(each).id for each in plain] == chunks.ids
    assert err.decode() == f"1 file, {len(plain)} passages\n"
    out.decode("ascii")


@POSIX
@pytest.mark.parametrize("columns", [60, 80, 132])
def test_a_table_on_a_terminal(columns: int) -> None:
    status, sent = on_terminal("chunk", ROOT / "docs" / "samples", columns=columns)
    assert status == 0
    assert "\x1b[" in sent
    lines = unstyled(sent).splitlines()
    assert lines[0].split() == ["Passage", "Size", "Boundary", "Opens", "with"]
    assert "returns-handbook.md," in unstyled(sent)
    assert lines[-1].startswith("3 files, ")
    assert all(len(line) <= columns for line in lines)


@POSIX
def test_a_table_of_wide_characters_keeps_its_columns(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("日本語の文章です。" * 30, encoding="utf-8")
    _, sent = on_terminal("chunk", tmp_path, "--chunk-size", "40", "--overlap", "0")
    rows = [line for line in unstyled(sent).splitlines() if "cluster" in line or "sentence" in line]
    assert rows
    for row in rows:
        assert len(row) + sum("\u2e80" < character < "\uffef" for character in row) <= 80


def test_standard_input() -> None:
    status, out, _ = command("chunk", "-", stdin="# A\n\nOne é.\n".encode())
    assert status == 0
    (only,) = records(out)
    assert (only["doc_uri"], only["citation"]) == ("", "lines 1-3, A")
    status, _, err = command("chunk", "-", stdin=b"a\xff")
    assert status == 1
    assert b"standard input: byte 1, 0xff, is not UTF-8" in err


def test_a_folder_with_bad_files(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"# A\n\nText.")
    (tmp_path / "b.md").write_bytes(b"caf\xe9")
    (tmp_path / "c.txt").write_bytes(b"a\0b")
    (tmp_path / "d.md").write_bytes(b"")
    (tmp_path / "e.md").write_bytes(b"More.")
    status, out, err = command("chunk", tmp_path, "nowhere.md")
    assert status == 1
    assert [Path(str(each["doc_uri"])).name for each in records(out)] == ["a.md", "e.md"]
    first, *failed = err.decode().splitlines()
    assert first == "3 files, 2 passages, 3 failed:"
    assert "b.md: byte 3, 0xe9" in failed[0]
    assert "c.txt: it is binary" in failed[1]
    assert failed[2] == "  nowhere.md: there is no such file; check the path"


def test_a_folder_of_many_kinds(cli: Cli, tmp_path: Path) -> None:
    """Each passage cites a place in its file; what is damaged is listed; the run goes on."""
    files = ROOT / "tests" / "data" / "files"
    for name in ("rules-libreoffice.docx", "prices-openpyxl.xlsx", "guide-pandoc.epub"):
        (tmp_path / name).write_bytes((files / name).read_bytes())
    (tmp_path / "broken.docx").write_bytes((files / "rules-libreoffice.docx").read_bytes()[:2000])
    (tmp_path / "a.csv").write_bytes(b"name,note\nAda,x\nshort\n")
    (tmp_path / "page.html").write_bytes(b"<h1>Hours</h1>\n<p>Nine &amp; five.</p>")
    (tmp_path / "call.vtt").write_bytes(b"WEBVTT\n\n12:04.000 --> 12:06.000\n<v Ana>Hello.\n")
    (tmp_path / ".gitignore").write_bytes(b"left/\n")
    (tmp_path / "left").mkdir()
    (tmp_path / "left" / "out.md").write_bytes(b"out")
    status, out, err = cli("chunk", tmp_path)
    cited = [str(each["citation"]) for each in records(out)]
    assert status == 1
    assert "a.csv, rows 1-3" in cited
    assert "call.vtt, 00:12:04, Ana" in cited
    assert "page.html, lines 1-2, Hours" in cited
    assert any(each.startswith("prices-openpyxl.xlsx, sheets Prices") for each in cited)
    assert not any("out.md" in each for each in cited)
    assert "a.csv: row 3: " in err
    assert "broken.docx: the ZIP archive" in err
    status, out, _ = cli("chunk", tmp_path, "--include", "*.csv", "--exclude", "*.docx")
    assert status == 0
    status, out, _ = cli("chunk", tmp_path / "left", "--no-ignore")
    assert [each["text"] for each in records(out)] == ["out"]


def test_an_archive_is_read_like_a_folder(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "docs.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("b/refunds.md", "# Refunds\n\nFive days.")
        made.writestr("a.txt", "Plain.")
        made.writestr("c.bin", b"\0")
    status, out, _ = cli("chunk", path)
    assert status == 0
    assert [each["doc_uri"] for each in records(out)] == [
        f"{path.as_posix()}/a.txt",
        f"{path.as_posix()}/b/refunds.md",
    ]


def test_one_file_of_an_archive_is_read_whatever_the_others_are(cli: Cli, tmp_path: Path) -> None:
    """Fault: the run failed for a member that nobody had named."""
    path = tmp_path / "docs.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("a.md", "# A\n\nOne refund.")
        made.writestr("../b.md", "# B\n\nTwo.")
    assert cli("chunk", f"{path}/a.md")[0] == 0
    status, _, err = cli("chunk", f"{path}/none.md")
    assert status == 1
    assert "holds no such document" in err
    assert "leads out" not in err
    status, _, err = cli("chunk", f"{path}/../b.md")
    assert status == 1
    assert err.count("leads out") == 1
    assert "holds no such document" not in err


def test_one_file_of_an_archive_is_named_like_one_of_a_folder(cli: Cli, tmp_path: Path) -> None:
    inner, path = tmp_path / "in.ZIP", tmp_path / "docs.zip"
    with zipfile.ZipFile(inner, "w") as made:
        made.writestr("c.md", "# C\n\nDeep refund.")
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("a.md", "# A\n\nOne refund.")
        made.write(inner, "in.ZIP")
    name = path.as_posix()
    for verb in (("explain",), ("snippet", "refund")):
        status, out, err = cli(*verb, path)
        assert (status, out) == (1, "")
        assert f"it holds 2 documents; name one: {name}/a.md, {name}/in.ZIP/c.md" in err
        assert cli(*verb, f"{path}/in.ZIP/c.md")[0] == 0
        assert cli(*verb, inner)[0] == 0  # there is no other
        status, _, err = cli(*verb, f"{path}/b.md")
        assert status == 1
        assert f"{name} holds no such document; it holds {name}/a.md" in err
        status, _, err = cli(*verb, tmp_path)
        assert status == 1
        assert "it is a folder; give a file" in err
    status, out, _ = cli("chunk", f"{path}/a.md")
    assert [each["doc_uri"] for each in records(out)] == [f"{name}/a.md"]


@pytest.mark.parametrize(
    ("patterns", "names"),
    [
        (["--include", "*.txt"], ["a.txt"]),
        (["--include", "b/**"], ["b/in.zip/c.md", "b/refunds.md"]),
        (["--exclude", "*.md"], ["a.txt"]),
        (["--exclude", "in.zip", "--exclude", "a.*"], ["b/refunds.md"]),
        (["--include", "*.rules"], ["x.rules"]),
    ],
)
def test_patterns_have_a_say_inside_archives(
    cli: Cli, tmp_path: Path, patterns: list[str], names: list[str]
) -> None:
    inner, path = tmp_path / "in.zip", tmp_path / "docs.zip"
    with zipfile.ZipFile(inner, "w") as made:
        made.writestr("c.md", "# C\n\nDeep.")
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("b/refunds.md", "# Refunds\n\nFive days.")
        made.writestr("a.txt", "Plain.")
        made.writestr("x.rules", "Rules.")
        made.write(inner, "b/in.zip")
    status, out, _ = cli("chunk", path, *patterns)
    assert status == 0
    assert [each["doc_uri"] for each in records(out)] == [f"{path.as_posix()}/{n}" for n in names]
    status, out, err = cli("chunk", path, "--include", "*.none")
    assert (status, out) == (1, "")
    assert "it holds no documents of a kind that is read" in err


def test_text_is_the_passages_as_they_are(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"# A\r\n\r\nOne \x1b[2J.")
    status, out, _ = cli("chunk", path, "--format", "text")
    assert status == 0
    assert out == "[a.md, lines 1-3, A]\n# A\r\n\r\nOne \x1b[2J.\n\n"


@POSIX
def test_a_document_cannot_drive_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "a\x1b[31m.md"
    path.write_bytes(b"# A \x1b]0;title\x07\n\nOne \x1b[2J.\xc2\x9b5m \xe2\x80\xae")
    for arguments in (
        ["chunk"],
        ["chunk", "--format", "text"],
        ["explain"],
        ["explain", "--format", "text"],
    ):
        _, sent = on_terminal(arguments[0], path, *arguments[1:])
        assert not re.search(r"\x1b\]|\x1b\[2J|\x1b\[31m|\x9b|\x07", sent)
    for form in ("ansi", "plain", "html", "json"):
        _, sent = on_terminal("snippet", "one", path, "--format", form)
        assert not re.search(r"\x1b\]|\x1b\[2J|\x1b\[31m|\x9b|\x07|\u202e", sent)


def test_each_file_once(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"A")
    status, out, _ = cli("chunk", tmp_path / "a.md", tmp_path, f"{tmp_path}/./a.md")
    assert (status, len(records(out))) == (0, 1)


@POSIX
def test_a_file_is_one_by_whatever_way(cli: Cli, tmp_path: Path) -> None:
    """Fault: a path through another folder, or a link to it, was a second file."""
    (tmp_path / "d").mkdir()
    (tmp_path / "a.md").write_bytes(b"A")
    (tmp_path / "b.md").symlink_to("a.md")
    (tmp_path / "e").symlink_to(".")
    status, out, _ = cli("chunk", tmp_path)
    assert [each["doc_uri"].rpartition("/")[2] for each in records(out)] == ["a.md", "b.md"]
    ways = [f"{tmp_path}/{way}" for way in ("a.md", "d/../a.md", "e/a.md")]
    for first in ways:
        status, out, _ = cli("chunk", first, *ways)
        assert status == 0
        assert [each["doc_uri"] for each in records(out)] == [Path(first).as_posix()]


def test_a_folder_without_documents_is_said(cli: Cli, tmp_path: Path) -> None:
    status, out, err = cli("chunk", tmp_path)
    assert (status, out) == (1, "")
    assert "it holds no documents of a kind" in err


def test_bare_headings_are_one_line_on_standard_error(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"# A\n## B\n")
    status, out, err = cli("chunk", tmp_path / "a.md")
    assert (status, out) == (0, "")
    first, last = err.splitlines()
    assert "a.md: nothing but headings (2)" in first
    assert last == "1 file, 0 passages"


def test_what_a_file_is_decides_how_it_is_cut(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"# A\n\nOne.\n\n# B\n\nTwo.")
    (tmp_path / "b.txt").write_bytes(b"# A\n\nOne.\n\n# B\n\nTwo.")
    (tmp_path / "c.csv").write_bytes(b"a,b\n1,2\n" * 3)
    _, out, _ = cli("chunk", tmp_path, "--chunk-size", "10", "--overlap", "0")
    boundaries = {str(each["boundary"]) for each in records(out)}
    assert boundaries == {"document", "heading", "paragraph", "row"}


@pytest.mark.parametrize("name", strategies.NAMES)
def test_every_strategy_cuts(cli: Cli, name: str) -> None:
    status, out, _ = cli("chunk", HANDBOOK, "--by", name, "--sizer", "words")
    assert status == 0
    assert records(out)
    assert cli("explain", HANDBOOK, "--by", name, "--format", "table")[0] == 0


@pytest.mark.parametrize(
    ("name", "strategy"),
    [
        ("by_heading", "by_heading"),
        ("Heading", "by_heading"),
        ("fixed_with_overlap",) * 2,
        ("whole_document",) * 2,
        ("engine_fixed",) * 2,
        ("by-structure", "by_structure"),
        ("SemanticChunker", "by_structure"),
        ("chunk_text", "by_text"),
    ],
)
def test_names_of_python_work(name: str, strategy: str) -> None:
    assert strategies.Chooser(name, {})(spanwise.Document(text="")).name == strategy


def test_sizes_reach_the_strategy(cli: Cli) -> None:
    _, out, _ = cli(
        "chunk",
        HANDBOOK,
        "--by",
        "structure",
        "--chunk-size",
        "300",
        "--max-size",
        "400",
        "--min-size",
        "0",
        "--overlap",
        "0",
    )
    expected = spanwise.by_structure(target_size=300, max_size=400, min_size=0, overlap=0)
    text = Path(HANDBOOK).read_text(encoding="utf-8")
    assert [each["start"] for each in records(out)] == expected.split(text).starts


def test_a_cap_in_tokens_is_kept_and_proved(cli: Cli, tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    model = tmp_path / "model"
    model.mkdir()
    (model / "tokenizer.json").write_text(minilm_json(), "utf-8")
    status, out, err = cli("chunk", HANDBOOK, "--tokenizer", model, "--max-size", 40)
    sizer = spanwise.tokens(model, quiet=True)
    assert status == 0
    assert max(sizer.whole(each["text"]) for each in records(out)) <= 40
    said = [line for line in err.splitlines() if line]
    assert said[0].startswith("the tokenizer has truncation to 128 tokens and padding")
    assert re.search(r"none of \d+ passages is clipped: the longest measures \d+ of 40 tokens", err)
    status, out, err = cli(
        *("chunk", HANDBOOK, "--tokenizer", model, "--sizer", "tokens"),
        *("--by", "text", "--chunk-size", 30, "--overlap", 0),
    )
    assert status == 0
    assert 25 < max(sizer.whole(each["text"]) for each in records(out)) <= 30
    status, out, err = cli("explain", HANDBOOK, "--tokenizer", model, "--max-size", 40)
    assert status == 0
    assert any(each["gave_way"] for each in records(out))


def test_fit_holds_to_what_an_embedder_reads(cli: Cli, tmp_path: Path) -> None:
    long = tmp_path / "long.txt"
    long.write_text("word " * 3000)
    server = "http://127.0.0.1:9/v1#text-embedding-3-small"  # never called
    status, out, err = cli("chunk", long, "--by", "whole", "--fit", server)
    assert status == 0
    assert len(records(out)) == 2
    assert "of 8,191 utf8_bytes (as the embedder says)" in err
    unknown = "http://127.0.0.1:9/v1#no-such-model"
    status, out, err = cli("chunk", long, "--by", "whole", "--fit", unknown)
    assert len(records(out)) == 8
    assert "of 2,000 chars (taken for an embedder of which nothing is known)" in err


def test_fit_wordllama(cli: Cli) -> None:
    pytest.importorskip("wordllama")
    status, _, err = cli("chunk", ROOT / "docs" / "samples", "--fit", "wordllama")
    assert status == 0
    assert "wordllama: none of 12 passages is clipped" in err


def test_a_separator_alone_means_records(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\n--\ntwo")
    _, out, _ = cli(
        "chunk", tmp_path / "a.txt", "--separator", r"\n--\n", "--chunk-size", "3", "--overlap", "0"
    )
    assert [each["text"] for each in records(out)] == ["one", "two"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["chunk"], "Missing argument 'PATH"),
        (["chunk", HANDBOOK, "--bye", "x"], "No such option"),
        (["chunk", HANDBOOK, "--by", "magic"], "--by 'magic' is unknown; give one of heading,"),
        (["chunk", HANDBOOK, "--by", "similarity"], "needs an embedder"),
        (["chunk", HANDBOOK, "--by", "turn"], "needs a transcript's turns"),
        (["chunk", HANDBOOK, "--chunk-size", "x"], "--chunk-size"),
        (["chunk", HANDBOOK, "--chunk-size", "0"], "chunk_size=0 is below 1"),
        (["chunk", HANDBOOK, "--min-size", "1200"], "min_size=1200 is not below chunk_size=1000"),
        (
            ["chunk", HANDBOOK, "--by", "whole", "--overlap", "1"],
            "--overlap has no effect on whole_document, which takes --max-size, --sizer",
        ),
        (
            ["chunk", HANDBOOK, "--by", "structure", "--max-level", "2"],
            "--max-level has no effect on by_structure, which takes --chunk-size, --overlap",
        ),
        (["chunk", HANDBOOK, "--by", "heading", "--separator", "x"], "--separator has no effect"),
        (["chunk", HANDBOOK, "--separator", ""], "separator='' is no string of one character"),
        (["chunk", HANDBOOK, "--max-level", "7"], "max_level=7 is above 6"),
        (["chunk", HANDBOOK, "--format", "xml"], "--format"),
        (["chunk", HANDBOOK, "--sizer", "tokens"], "--sizer tokens needs --tokenizer"),
        (["chunk", HANDBOOK, "--tokenizer", "cl100k_base"], "has no effect without --max-size"),
        (["chunk", HANDBOOK, "--tokenizer", "gpt-9", "--max-size", "9"], "neither a file nor one"),
        (
            ["chunk", HANDBOOK, "--tokenizer", "cl100k_base", "--max-size", "0"],
            "max_size=0 is below 1",
        ),
        (["chunk", HANDBOOK, "--fit", "glove"], "embedder='glove' is not known; give one of"),
        (
            ["chunk", HANDBOOK, "--fit", "openai:text-embedding-3-small", "--max-size", "9"],
            "max_size=9 chars is in another unit than what the embedder reads, 8,191 utf8_bytes",
        ),
        (["chunk", HANDBOOK, "--encoding", "utf-99"], "encoding='utf-99' is no text encoding"),
        (["explain", HANDBOOK, "--by", "whole", "--min-size", "1"], "--min-size has no effect"),
        (["explain"], "Missing argument"),
        (["snippet", "x"], "Missing argument"),
        (["snippet", "x", HANDBOOK, "--width", "0"], "width=0 is below 1"),
        (["cut", HANDBOOK], "No such command"),
    ],
)
def test_wrong_use_is_two_and_named(cli: Cli, arguments: list[str], said: str) -> None:
    status, out, err = cli(*arguments)
    assert (status, out) == (2, "")
    assert said in err
    assert "Traceback" not in err
    assert err.startswith("spanwise")


@pytest.mark.parametrize("verb", ["chunk", "eval", "questions"])
@pytest.mark.parametrize(
    ("option", "in_archives"),
    [
        (["--include", "*.md"], True),
        (["--exclude", "*.txt"], True),
        (["--no-ignore"], False),
        (["--no-recursive"], False),
    ],
)
def test_a_choice_of_files_needs_a_folder(
    cli: Cli, tmp_path: Path, verb: str, option: list[str], in_archives: bool
) -> None:
    """Fault: what chooses from folders was taken with named files alone, and did nothing."""
    status, out, err = cli(verb, HANDBOOK, *option)
    assert (status, out) == (2, "")
    assert f"{option[0]} has no effect" in err
    shutil.copy(HANDBOOK, tmp_path / "a.md")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as made:
        made.write(HANDBOOK, "a.md")
    assert cli(verb, tmp_path, *option)[0] == 0
    assert cli(verb, tmp_path / "a.zip", *option)[0] == (0 if in_archives else 2)
    status, _, err = cli(verb, tmp_path / "none", *option)
    assert status == 1
    assert "there is no such file" in err


def test_an_option_must_fit_some_file_of_a_run(cli: Cli, tmp_path: Path) -> None:
    """It is for the files whose strategy takes it; one for none is refused, or told of."""
    (tmp_path / "b.csv").write_bytes(b"a,b")
    status, out, err = cli("chunk", tmp_path, "--min-size", "5")
    assert (status, out) == (2, "")
    assert "--min-size has no effect on by_record" in err
    (tmp_path / "a.md").write_bytes(b"# A\n\nOne.\n\n# B\n\nTwo.")
    (tmp_path / "z.vtt").write_bytes(b"WEBVTT\n\n00:01.000 --> 00:02.000\nHello.\n")
    status, out, err = cli("chunk", tmp_path, "--overlap", "0", "--min-size", "0")
    assert status == 0
    assert "no effect" not in err
    assert [json.loads(line)["doc_uri"][-5:] for line in out.splitlines()] == [
        *("/a.md", "/a.md", "b.csv", "z.vtt"),
    ]
    (tmp_path / "only").mkdir()
    (tmp_path / "only" / "p.html").write_bytes(b"<p>Text.</p>")
    status, out, err = cli("chunk", tmp_path / "only", "--separator", "x", "--by", "record")
    assert status == 0
    (tmp_path / "only" / "p.html").rename(tmp_path / "only" / "p.srt")
    (tmp_path / "only" / "p.srt").write_bytes(b"1\n00:00:01,000 --> 00:00:02,000\nHello.\n")
    status, out, err = cli("chunk", tmp_path / "only", "--max-level", "1")
    assert (status, len(out.splitlines())) == (0, 1)
    assert "--max-level had no effect" in err


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("p.html", b"<h1>A</h1><h2>B</h2><p>Text.</p>"),
        ("m.py", b"def f():\n    return 1\n"),
        ("n.md", b"# A\n\n## B\n\nText."),
    ],
)
def test_options_of_headings_are_taken_by_every_kind_with_headings(
    cli: Cli, tmp_path: Path, name: str, data: bytes
) -> None:
    (tmp_path / name).write_bytes(data)
    for verb in ("chunk", "explain"):
        status, out, err = cli(verb, tmp_path / name, "--max-level", "1")
        assert (status, bool(out), "no effect" in err) == (0, True, False)


def test_a_size_that_one_document_cannot_meet_is_its_own_failure(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("é", encoding="utf-8")
    (tmp_path / "b.txt").write_text("b", encoding="utf-8")
    status, out, err = cli(
        "chunk",
        tmp_path,
        "--sizer",
        "utf8_bytes",
        "--max-size",
        "1",
        "--chunk-size",
        "1",
        "--overlap",
        "0",
    )
    assert status == 1
    assert [each["text"] for each in records(out)] == ["b"]
    assert "a.txt: the character 'é' at position 0" in err


def test_a_fault_in_one_document_does_not_end_a_run(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = sources_module.load

    def broken(path: str, **options: str) -> spanwise.Document:
        if path.endswith("a.md"):
            raise RuntimeError("boom")
        return real(path, **options)

    (tmp_path / "a.md").write_bytes(b"A")
    (tmp_path / "b.md").write_bytes(b"B")
    monkeypatch.setattr(sources_module, "load", broken)
    status, out, err = cli("chunk", tmp_path)
    assert (status, len(records(out))) == (1, 1)
    assert "a.md: RuntimeError: boom" in err


# explain -------------------------------------------------------------------------------------


def test_explain_equals_the_cuts_of_chunk(cli: Cli) -> None:
    options = ["--chunk-size", "300", "--overlap", "40"]
    _, cut, _ = cli("chunk", HANDBOOK, *options)
    status, out, err = cli("explain", HANDBOOK, *options)
    assert (status, err) == (0, "")
    for one, other in zip(records(cut), records(out), strict=True):
        assert all(
            one[name] == other[name] for name in ("index", "start", "body", "end", "boundary")
        )
    assert records(out)[1]["why"]


@POSIX
def test_explain_on_a_terminal() -> None:
    status, sent = on_terminal("explain", HANDBOOK, "--chunk-size", "300")
    assert status == 0
    lines = unstyled(sent).splitlines()
    assert "by_heading: chunk_size 300, max_level 6, sizer chars" in " ".join(
        " ".join(lines).split()
    )
    assert all(len(line) <= 80 for line in lines)
    assert "with the passage before it" in " ".join(" ".join(lines).split())


def test_explain_as_text(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"# A\n\nOne.\n\n# B\n\nTwo.")
    _, out, _ = cli("explain", path, "--format", "text", "--overlap", "0", "--min-size", "0")
    assert out == (
        "[cut 1: document, 9: the text begins here]\n# A\n\nOne.\n\n"
        "[cut 2: heading, 9: a heading opens a section]\n# B\n\nTwo.\n\n"
    )


@pytest.mark.parametrize("verb", [["explain"], ["snippet", "a"]])
def test_a_file_that_cannot_be_read(cli: Cli, verb: list[str], tmp_path: Path) -> None:
    status, out, err = cli(*verb, tmp_path / "none.md")
    assert (status, out) == (1, "")
    assert "there is no such file" in err


def test_an_empty_file(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"")
    for form in ("table", "jsonl", "text"):
        assert cli("chunk", tmp_path / "a.md", "--format", form) == (0, "", "1 file, 0 passages\n")
        assert cli("explain", tmp_path / "a.md", "--format", form)[0] == 0


# snippet -------------------------------------------------------------------------------------


def test_snippet_is_plain_in_a_pipe(cli: Cli) -> None:
    status, out, err = cli("snippet", "trace number", HANDBOOK, "--width", "80")
    assert (status, err) == (0, "")
    place, text = out.split("\n", 1)
    assert place.startswith("returns-handbook.md, line")
    assert place.endswith("Refunds > Late refunds")
    assert "trace number" in text
    assert "\x1b" not in out


def test_snippet_in_each_format(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a<b>.md"
    path.write_bytes("# 返品\n\n<b>返金</b> は五日".encode())
    _, out, _ = cli("snippet", "返金", path, "--format", "html")
    assert out == (
        "<cite>a&lt;b&gt;.md, line 3, 返品</cite>\n"
        "# 返品\n\n&lt;b&gt;<mark>返金</mark>&lt;/b&gt; は五日\n"
    )
    _, out, _ = cli("snippet", "返金", path, "--format", "ansi")
    assert "\x1b[1;33m返金\x1b[0m" in out
    _, out, _ = cli("snippet", "返金", path, "--format", "json")
    (found,) = records(out)
    (mark,) = found["marks"]
    assert path.read_text(encoding="utf-8")[mark["source_start"] : mark["source_end"]] == "返金"
    assert found["heading_path"] == ["返品"]
    assert found["lines"] == [3, 3]


@POSIX
def test_snippet_on_a_terminal() -> None:
    status, sent = on_terminal("snippet", "late", HANDBOOK)
    assert status == 0
    assert "\x1b[1;33m" in sent
    _, sent = on_terminal("snippet", "late", HANDBOOK, NO_COLOR="1")
    assert "33m" not in sent


def test_snippet_without_a_match(cli: Cli) -> None:
    for form in ("plain", "ansi", "html", "json"):
        status, out, err = cli("snippet", "xyzzy", HANDBOOK, "--format", form)
        assert (status, out) == (1, "")
        assert "no word of 'xyzzy' occurs in it" in err


def test_snippet_folds_accents_when_asked(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Ein Café.", encoding="utf-8")
    assert cli("snippet", "cafe", tmp_path / "a.txt")[0] == 1
    assert cli("snippet", "cafe", tmp_path / "a.txt", "--fold-accents")[0] == 0


# the rest ------------------------------------------------------------------------------------


def test_version_and_help(cli: Cli) -> None:
    assert cli("--version") == (0, f"spanwise {spanwise.__version__}\n", "")
    for arguments in (["--help"], ["-h"], []):
        status, out, _ = cli(*arguments)
        assert status == 0
        assert all(verb in out for verb in ("chunk", "explain", "snippet"))
    for verb in ("chunk", "explain", "snippet"):
        status, out, _ = cli(verb, "--help")
        assert status == 0
        assert "Examples" in out
        assert f"spanwise {verb} " in out
    assert "--separator '\\n---\\n'" in cli("chunk", "--help")[1]


def test_without_the_extra_the_command_says_how_to_install_it() -> None:
    for missing in ("typer", "rich"):
        program = (
            f"import sys; sys.modules[{missing!r}] = None\nfrom spanwise.cli import main; main()"
        )
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=False
        )
        assert done.returncode == 2
        assert done.stdout == ""
        assert done.stderr == (
            f"the command line needs {missing}, which is not installed; "
            "install it with: pip install 'spanwise[cli]'\n"
        )


@POSIX
@pytest.mark.parametrize("form", ["jsonl", "text", "table"])
def test_a_closed_pipe_is_quiet(tmp_path: Path, form: str) -> None:
    (tmp_path / "a.txt").write_text("word " * 400_000)
    running = subprocess.Popen(
        [*COMMAND, "chunk", str(tmp_path), "--format", form],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert running.stdout and running.stderr
    assert running.stdout.readline()
    running.stdout.close()
    err = running.stderr.read()
    running.stderr.close()
    assert (running.wait(timeout=60), err) == (141, b"")


@POSIX
@pytest.mark.parametrize("arguments", ["", "--version", "--help", "chunk --help"])
def test_help_is_as_quiet_as_a_verb(arguments: str) -> None:
    """Fault: help and version ended in a traceback or with 1 where nobody reads them."""
    line = f"{shlex.join(COMMAND)} {arguments}"
    closed = subprocess.run(["sh", "-c", f"{line} >&-"], capture_output=True, check=False)
    assert (closed.returncode, closed.stderr) == (0, b"")
    reader, writer = os.pipe()
    os.close(reader)
    unread = subprocess.run(["sh", "-c", line], stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (unread.returncode, unread.stderr) == (141, b"")
    wrong = subprocess.run(["sh", "-c", f"{line} --bad 2>&-"], stdout=subprocess.PIPE, check=False)
    assert (wrong.returncode, wrong.stdout) == (2, b"")


@POSIX
def test_ctrl_c_is_quiet() -> None:
    running = subprocess.Popen(
        [*COMMAND, "chunk", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert running.stdin and running.stdout and running.stderr
    running.stdin.write(b"x" * 1_000_000)  # more than a pipe holds: it is reading now
    running.stdin.flush()
    time.sleep(0.1)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err) == (130, b"", b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_said() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, "chunk", HANDBOOK],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "spanwise chunk: the output cannot be written: No space left on device\n"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_no_character_breaks_the_output(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.md").write_text("# 日本\n\n返金 🏮\n", encoding="utf-8")
    for form in ("table", "text", "jsonl"):
        status, out, err = command("chunk", tmp_path, "--format", form, PYTHONIOENCODING=encoding)
        assert status == 0, err
        out.decode(encoding)
    status, _, err = command(
        "snippet", "返金", tmp_path / "a.md", "--format", "ansi", PYTHONIOENCODING=encoding
    )
    assert status == 0, err


@pytest.mark.skipif(sys.platform != "linux", reason="names that are no UTF-8 exist on Linux")
def test_a_file_name_that_is_no_utf8(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"a\xff.md")
    path.write_bytes(b"# A\n\nOne.")
    for form in ("table", "text", "jsonl"):
        status, out, err = command("chunk", tmp_path, "--format", form)
        assert status == 0, err
        out.decode()
    assert records(out)[0]["doc_uri"] == f"{tmp_path}/a\udcff.md"
    status, _, err = command("chunk", f"{path}x")
    assert status == 1
    err.decode()


def test_a_long_file_is_streamed(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("A sentence of some words.\n\n" * 200_000)
    status, out, err = command("chunk", tmp_path / "a.txt", "--overlap", "0")
    assert status == 0
    assert out.count(b"\n") == int(err.split()[2].replace(b",", b""))
    assert b"\x1b" not in err


@POSIX
def test_progress_is_for_a_terminal_and_for_long_work(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("A sentence of some words.\n\n" * 200_000)
    status, sent = on_terminal("chunk", tmp_path, "--chunk-size", "100000", "--overlap", "0")
    assert status == 0
    assert "cutting" in sent
    _, sent = on_terminal("chunk", HANDBOOK)
    assert "cutting" not in sent


def test_visible_shows_what_a_terminal_would_act_on() -> None:
    assert visible("a\x1b[0m\x07\ud800\u202e") == "a␛[0m␇\ufffd\ufffd"


def test_standard_input_of_a_terminal_in_process(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    class Input:
        buffer = io.BytesIO(b"One.")

    monkeypatch.setattr(sys, "stdin", Input())
    status, out, _ = cli("snippet", "one", "-")
    assert (status, out) == (0, "line 1\nOne.\n")


# docs/cli.md ---------------------------------------------------------------------------------


def test_every_verb_and_option_is_documented() -> None:
    page = PAGE.read_text(encoding="utf-8")
    verbs = get_command(app).commands  # type: ignore[attr-defined]
    for name, verb in verbs.items():
        assert f"## spanwise {name} " in page
        for option in verb.params:
            for flag in option.opts:
                if flag.startswith("-"):
                    assert f"- `{flag}" in page or f"`{flag}`" in page, flag
    for flag in ("--version", "--help", "-h"):
        assert flag in page
    for name in strategies.NAMES:
        assert f"| `{name}` |" in page


def outputs(page: str) -> str:
    """A page with the output of each console block written anew, in a folder with the samples."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "docs" / "samples", Path(folder) / "docs" / "samples")
        return outputs_in(folder, page)


def outputs_in(folder: str, page: str) -> str:
    left_out = ("NO_COLOR", "FORCE_COLOR", "SPANWISE_INDEX")
    variables = {k: v for k, v in os.environ.items() if k not in left_out}
    variables |= {"COLUMNS": "80", "PYTHONIOENCODING": "utf-8", "PYTHONWARNINGS": "ignore"}
    variables["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    def block(found: re.Match[str]) -> str:
        parts = []
        for line in found[1].splitlines():
            if line.startswith("$ "):
                done = subprocess.run(
                    ["sh", "-c", line[2:]],
                    cwd=folder,
                    env=variables,
                    capture_output=True,
                    check=False,
                )
                out = re.sub(r"\d\.\d s ", "0.1 s ", (done.stdout + done.stderr).decode())
                parts.append(f"{line}\n{out.rstrip()}\n" if out.strip() else f"{line}\n")
        return f"```console\n{''.join(parts)}```"

    return re.sub(r"```console\n(.*?)```", block, page, flags=re.DOTALL)


@POSIX
def test_the_outputs_on_the_page_are_real() -> None:
    pytest.importorskip("wordllama")
    page = PAGE.read_text(encoding="utf-8")
    assert outputs(page) == page, "write them anew with: python tests/unit/test_cli.py"


if __name__ == "__main__":
    PAGE.write_text(outputs(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
