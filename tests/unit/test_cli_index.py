"""The verbs of an index on the command line, as a person and as a program meet them."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tokenizer_makes import minilm_json
from unit.test_cli import COMMAND, POSIX, command, on_terminal, records, unstyled

import spanwise
from spanwise import Document
from spanwise.cli import edge, opened
from spanwise.cli.app import run
from spanwise.cli.index_options import read_pairs
from spanwise.embedders import transport
from spanwise.errors import EmbedderError, OptionError
from spanwise.index import Index

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "docs" / "samples"
WORDLLAMA = pytest.mark.skipif(sys.version_info >= (3, 14), reason="wordllama has no wheel")

Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run a command line in this process: status, standard output, standard error."""

    def call(*arguments: object) -> tuple[int, str, str]:
        status = run([str(each) for each in arguments])
        return status, *capsys.readouterr()

    return call


@pytest.fixture(autouse=True)
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder to stand in, with documents in ``docs``."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SPANWISE_INDEX", raising=False)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "refunds.md").write_text("# Refunds\n\nA refund takes five days.\n")
    (tmp_path / "docs" / "shipping.md").write_text("# Shipping\n\nA parcel takes two days.\n")
    yield tmp_path


def indexed(cli: Cli, *options: object) -> dict[str, Any]:
    """Index ``docs`` into ``docs.db``; the report."""
    status, out, err = cli("index", "docs", "--to", "docs.db", *options)
    assert status == 0, err
    (report,) = records(out)
    return report


def has_no_command(sent: str) -> bool:
    """Whether a terminal was sent nothing that a document could have put there."""
    return not re.search(r"\x1b\]|\x1b\[2J|\x1b\[35m|\x9b|\x07|\u202e", sent)


# index ---------------------------------------------------------------------------------------


def test_a_report_in_a_pipe_is_one_object() -> None:
    status, out, err = command("index", "docs", "--to", "docs.db")
    (report,) = records(out)
    assert status == 0
    assert (report["discovered"], report["added"], report["chunks"]) == (2, 2, 2)
    assert report["splitter"] == spanwise_default()
    assert err.decode() == "--embedder wordllama would find by meaning too\n"
    status, out, err = command("index", "docs", "--to", "docs.db")
    (report,) = records(out)
    assert (status, report["unchanged"], report["loaded"], err) == (0, 2, 0, b"")


def spanwise_default() -> str:
    from spanwise.splitters.presets import for_search  # noqa: PLC0415

    return for_search().fingerprint


@POSIX
def test_a_report_on_a_terminal() -> None:
    (Path("docs") / "bad.md").write_bytes(b"caf\xe9")
    status, sent = on_terminal("index", "docs", "--to", "docs.db")
    lines = unstyled(sent).splitlines()
    assert status == 1
    assert lines[0] == "docs.db"
    assert lines[1].split() == ["3", "documents", "2", "added"]
    assert lines[2].split() == ["2", "passages", "words", "alone"]
    assert lines[3].split() == ["1", "failed", "listed", "below"]
    assert "cut by for_search/1 chunk_size=500" in lines[4]
    assert lines[-2] == "1 failed:"
    assert lines[-1].startswith("  docs/bad.md: byte 3, 0xe9, is not UTF-8")
    (Path("docs") / "bad.md").unlink()
    Path("docs/refunds.md").write_text("# Refunds\n\nA refund takes six days.\n")
    Path("docs/shipping.md").unlink()
    status, sent = on_terminal("index", "docs", "--to", "docs.db")
    lines = unstyled(sent).splitlines()
    assert (status, lines[1].split()) == (0, ["1", "document", "1", "changed"])
    assert lines[2].split() == ["1", "removed", "docs/shipping.md"]
    assert all(len(line) <= 80 for line in lines)
    status, sent = on_terminal("index", "docs", "--to", "docs.db")
    assert unstyled(sent).splitlines()[1].split() == ["1", "document", "all", "unchanged"]


@WORDLLAMA
def test_an_embedder_by_name_is_remembered(cli: Cli) -> None:
    pytest.importorskip("wordllama")
    report = indexed(cli, "--embedder", "wordllama")
    assert (report["embedded"], report["embedder"][:9]) == (2, "wordllama")
    Path("docs/refunds.md").write_text("# Refunds\n\nA refund takes five days.\n\n# New\n\nNew.")
    report = indexed(cli)
    assert (report["embedded"], report["changed"]) == (1, 1)
    status, out, err = cli("search", "money back", "--in", "docs.db")
    assert (status, err) == (0, "")
    assert any(each["meaning_rank"] for each in records(out))
    status, _, err = cli("index", "docs", "--to", "docs.db", "--embedder", "none")
    assert status == 1
    assert "not none; leave --embedder out to go on with it, give --rebuild to make it" in err
    report = indexed(cli, "--embedder", "none", "--rebuild")
    assert (report["recut"], report["embedder"]) == (2, "")
    with Index.open("docs.db", read_only=True) as index:
        assert index.verify()


def test_rebuild_reaches_other_namespaces_and_counts_each_document_once(cli: Cli) -> None:
    indexed(cli)
    indexed(cli, "--namespace", "other")
    report = indexed(cli, "--rebuild", "--chunk-size", "300")
    assert (report["discovered"], report["recut"]) == (2, 4)
    with Index.open("docs.db", read_only=True) as index:
        assert index.verify()
        assert index.namespaces() == ["", "other"]
    status, out, _ = cli("index", "--to", "docs.db", "--rebuild", "--by", "whole")
    (report,) = records(out)
    assert (status, report["discovered"], report["recut"]) == (0, 4, 4)


def test_options_for_cutting_reach_the_splitter(cli: Cli) -> None:
    report = indexed(cli, "--chunk-size", "77")
    assert "chunk_size=77 " in report["splitter"]
    report = indexed(cli, "--rebuild", "--by", "heading", "--overlap", "0", "--chunk-size", "300")
    assert report["splitter"] == spanwise.by_heading(chunk_size=300, overlap=0).fingerprint
    assert indexed(cli)["unchanged"] == 2
    status, _, err = cli("index", "docs", "--to", "docs.db", "--by", "whole")
    assert status == 1
    assert "leave the options for cutting out to go on with it" in err
    report = indexed(cli, "--rebuild", "--separator", r"\n\n")
    assert report["splitter"].startswith("by_record/")


def test_which_files_and_what_is_laid_over_them(cli: Cli) -> None:
    (Path("docs") / "in").mkdir()
    (Path("docs") / "in" / "deep.md").write_text("Deep.")
    (Path("docs") / "latin.txt").write_bytes(b"caf\xe9")
    (Path("docs") / ".gitignore").write_text("shipping.md\n")
    common = ["--encoding", "latin-1", "--no-recursive"]
    assert indexed(cli, *common)["discovered"] == 2
    report = indexed(cli, *common, "--no-ignore", "--exclude", "refunds.md")
    assert (report["discovered"], report["removed"]) == (2, [])  # another choice of files
    report = indexed(cli, "--include", "deep.md", "--keep-missing")
    assert (report["discovered"], report["removed"]) == (1, [])
    indexed(cli, "--encoding", "latin-1", "--metadata", "team=a", "--metadata", "year=2024")
    _, out, _ = cli("documents", "--in", "docs.db", "--where", "team=a", "--where", "year=2024")
    names = [Path(str(each["uri"])).name for each in records(out)]
    assert names == ["deep.md", "latin.txt", "refunds.md"]


def test_a_dry_run_writes_nothing(cli: Cli, work: Path) -> None:
    report = indexed(cli, "--dry-run")
    assert (report["added"], report["dry_run"]) == (2, True)
    assert [each.name for each in work.iterdir()] == ["docs"]
    indexed(cli)
    Path("docs/refunds.md").write_text("Other.")
    before = Path("docs.db").read_bytes()
    report = indexed(cli, "--dry-run", "--metadata", "a=b")
    assert (report["changed"], Path("docs.db").read_bytes()) == (2, before)
    status, out, _ = cli("index", "docs", "--to", "docs.db", "--dry-run", "--format", "text")
    assert status == 0
    assert "docs.db  a dry run, nothing is written\n" in out


@pytest.mark.parametrize(
    ("folders", "options", "count"),
    [
        (["docs", "docs"], [], 4),
        (["docs", "docs/in/..", "./docs"], [], 4),
        (["docs", "docs/in"], [], 4),
        (["docs/in", "docs"], [], 4),
        (["docs", "docs/in", "docs/in/deep"], [], 4),
        (["docs", "docs/in", "docs/in/deep"], ["--no-recursive"], 4),
        (["docs", "docs/.hidden", "docs/left"], [], 6),
        (["docs", "docs/left"], ["--no-ignore"], 5),
    ],
)
def test_folders_that_overlap_are_counted_once(
    cli: Cli, folders: list[str], options: list[str], count: int
) -> None:
    """Fault: a dry run promised more documents than there were, and the run reported as many."""
    for name in ("in/a.md", "in/deep/b.md", ".hidden/c.md", "left/d.md"):
        (Path("docs") / name).parent.mkdir(exist_ok=True)
        (Path("docs") / name).write_text(f"# {name}\n\nText.")
    Path("docs/.gitignore").write_text("left/\n")
    common = ("index", *folders, "--to", "docs.db", *options)
    for more in (["--dry-run"], []):
        status, out, _ = cli(*common, *more)
        (report,) = records(out)
        assert (status, report["discovered"], report["added"]) == (0, count, count)
    assert len(records(cli("documents", "--in", "docs.db")[1])) == count


def test_reload_reads_what_did_not_change(cli: Cli) -> None:
    indexed(cli)
    assert indexed(cli)["loaded"] == 0
    assert indexed(cli, "--reload")["loaded"] == 2


def test_folders_that_are_not_there(cli: Cli, work: Path) -> None:
    status, out, err = cli("index", "nowhere", "--to", "new.db")
    assert (status, out) == (1, "")
    assert err == "nowhere: there is no such folder, and nothing was changed; check the path\n"
    status, _, err = cli("index", "docs/refunds.md", "--to", "new.db")
    assert status == 1
    assert "it is a file; give its folder: spanwise index docs --include refunds.md" in err
    (work / "empty").mkdir()
    status, out, err = cli("index", "empty", "--to", "new.db", "--format", "text")
    assert status == 1
    assert "empty: it holds no document of a kind that is read" in err
    assert not (work / "new.db").exists()
    status, out, err = cli("index", "docs", "nowhere", "--to", "new.db")
    assert (status, records(out)[0]["added"]) == (1, 2)
    assert err.endswith("1 failed:\n  nowhere: there is no such folder, and nothing was changed; "
                        "check the path\n")  # fmt: skip


def test_a_folder_that_became_empty_takes_nothing_out(cli: Cli) -> None:
    indexed(cli)
    shutil.rmtree("docs")
    Path("docs").mkdir()
    status, out, _ = cli("index", "docs", "--to", "docs.db")
    assert (status, records(out)[0]["removed"]) == (1, [])
    assert len(records(cli("documents", "--in", "docs.db")[1])) == 2


def test_a_failure_keeps_what_was_known(cli: Cli) -> None:
    indexed(cli)
    Path("docs/refunds.md").write_bytes(b"\xff\xfe\xff")
    status, out, err = cli("index", "docs", "--to", "docs.db")
    assert status == 1
    assert records(out)[0]["failed"][0]["stale"] is True
    assert err.splitlines()[0] == "1 failed:"
    assert err.splitlines()[1].startswith("  docs/refunds.md: ")
    assert err.endswith("(the index keeps what it had of it)\n")
    assert cli("search", "refund", "--in", "docs.db")[0] == 0


def test_the_variable_names_the_index(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPANWISE_INDEX", "other.db")
    assert cli("index", "docs")[0] == 0
    for verb in (["search", "refund"], ["documents"], ["verify"], ["show", "docs/refunds.md"]):
        assert cli(*verb)[0] == 0
    assert cli("export", "--to", "b")[0] == 0
    assert cli("remove", "docs/refunds.md")[0] == 0
    assert cli("import", "b")[0] == 0
    assert Path("other.db").exists()
    assert not Path("docs.db").exists()


def test_a_graph_is_made_at_the_end(cli: Cli) -> None:
    pytest.importorskip("wordllama")
    pytest.importorskip("usearch")
    status, _, err = cli("index", "docs", "--to", "docs.db", "--graph")
    assert status == 1
    assert "it holds no vectors to make a graph of; index documents with an embedder" in err
    status, _, err = cli(
        "index", "docs", "--to", "docs.db", "--embedder", "wordllama", "--rebuild", "--graph"
    )
    assert status == 0, err
    assert "making the graph of vectors" in err
    with closing(sqlite3.connect("docs.db")) as connection:
        assert connection.execute("SELECT count(*) FROM graphs").fetchone() == (1,)
    found = json.loads(cli("search", "money back", "--in", "docs.db", "--mode", "meaning")[1])
    assert found["doc_uri"] == "docs/refunds.md"


def test_a_warning_of_a_tokenizer_is_a_line() -> None:
    """Fault: it was a warning of Python, with a line of the source below it."""
    pytest.importorskip("tokenizers")
    Path("tokenizer.json").write_text(minilm_json(), "utf-8")
    cut = ("--by", "heading", "--tokenizer", "tokenizer.json", "--max-size", "40")
    said = "the tokenizer has truncation to 128 tokens and padding"
    status, _, err = command("index", "docs", "--to", "docs.db", *cut)
    assert (status, err.decode().count("\n")) == (0, 2)
    assert err.decode().startswith(said)
    assert command("export", "--in", "docs.db", "--to", "b")[0] == 0
    status, _, err = command("import", "b", "--to", "copy.db", *cut)
    assert (status, err.decode().count("\n")) == (0, 2)
    assert err.decode().startswith(said)


def test_warnings_of_the_library_are_lines(cli: Cli) -> None:
    (Path("docs") / "bare.md").write_text("# Nothing\n\n## But headings\n")
    status, _, err = cli("index", "docs", "--to", "docs.db", "--by", "heading")
    assert status == 0
    assert len([line for line in err.splitlines() if "nothing but headings" in line]) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["index"], "Missing option '--to'"),
        (["index", "docs"], "Missing option '--to' (env var: 'SPANWISE_INDEX')"),
        (["index", "--to", "new.db"], "no FOLDER is given"),
        (["index", "--to", "new.db", "--rebuild", "--dry-run"], "no FOLDER is given"),
        (["index", "docs", "--to", "new.db", "--embedder", "glove"], "embedder='glove' is not"),
        (["index", "docs", "--to", "new.db", "--by", "magic"], "engine-hierarchical, search\n"),
        (["index", "docs", "--to", "new.db", "--overlap", "3"], "--overlap has no effect without"),
        (["index", "docs", "--to", "new.db", "--sizer", "words"], "--sizer has no effect without"),
        (["index", "docs", "--to", "new.db", "--chunk-size", "0"], "chunk_size=0 is below 1"),
        (["index", "docs", "--to", "new.db", "--metadata", "x"], "--metadata 'x' is no KEY=VALUE"),
        (["index", "docs", "--to", "new.db", "--metadata", "=x"], "--metadata '=x' is no KEY=V"),
        (["index", "docs", "--to", "new.db", "--every", "0"], "--every 0 is no number of seconds"),
        (["index", "docs", "--to", "new.db", "--every", "nan"], "--every nan is no number"),
        (["index", "docs", "--to", "new.db", "--every", "1", "--dry-run"], "contradict"),
        (["index", "docs", "--to", "new.db", "--graph", "--dry-run"], "contradict"),
        (["index", "docs", "--to", "new.db", "--format", "xml"], "--format"),
        (["search"], "Missing argument 'QUERY'"),
        (["search", "x"], "Missing option '--in'"),
        (["search", "x", "--in", "docs.db", "--mode", "magic"], "mode='magic' is unknown"),
        (["search", "x", "--in", "docs.db", "--mode", "meaning"], "needs vectors"),
        (["search", "x", "--in", "docs.db", "--expand", "all"], "expand='all' is unknown"),
        (["search", "x", "--in", "docs.db", "--expand", "-1"], "expand='-1' is unknown"),
        (["search", "x", "--in", "docs.db", "--limit", "0"], "limit=0 is below 1"),
        (["search", "x", "--in", "docs.db", "--budget", "0"], "budget=0 is below 1"),
        (["search", "x", "--in", "docs.db", "--width", "0"], "width=0 is below 1"),
        (["search", "x", "--in", "docs.db", "--where", "team"], "--where 'team' is no KEY=VALUE"),
        (["search", "x", "--in", "docs.db", "--min-score", "x"], "--min-score"),
        (["show", "x", "--in", "docs.db", "--around", "-1"], "around=-1 is below 0"),
        (["remove", "--in", "docs.db"], "nothing is named; give a URI or --where"),
        (["remove", "x", "--in", "docs.db", "--where", "a=b"], "contradict each other"),
        (["export", "--in", "docs.db"], "Missing option '--to'"),
        (["verify"], "Missing argument 'FILE'"),
    ],
)
def test_wrong_use_is_two_and_leaves_no_file(
    cli: Cli, work: Path, arguments: list[str], said: str
) -> None:
    indexed(cli)
    status, out, err = cli(*arguments)
    assert (status, out) == (2, "")
    assert said in err
    assert err.startswith("spanwise")
    assert not (work / "new.db").exists()


@pytest.mark.parametrize(
    "option",
    [
        ["--include", "*.md"],
        ["--exclude", "gone.md"],
        ["--no-ignore"],
        ["--no-recursive"],
        ["--encoding", "utf-8"],
        ["--metadata", "a=b"],
        ["--namespace", "a"],
        ["--keep-missing"],
        ["--reload"],
    ],
)
def test_options_of_folders_need_one(cli: Cli, option: list[str]) -> None:
    """Fault: a rebuild of what is stored took options on files, which it does not read."""
    indexed(cli)
    status, out, err = cli("index", "--to", "docs.db", "--rebuild", *option)
    assert (status, out) == (2, "")
    assert f"{option[0]} has no effect on a --rebuild without a FOLDER" in err
    assert cli("index", "docs", "--to", "docs.db", "--rebuild", *option)[0] == 0


def test_only_an_index_that_is_there_is_rebuilt_without_a_folder(cli: Cli, work: Path) -> None:
    """Fault: a misspelt name made an empty index, and the run ended well."""
    status, out, err = cli("index", "--to", "typo.db", "--rebuild")
    assert (status, out) == (1, "")
    assert "typo.db: there is no such index" in err
    assert not (work / "typo.db").exists()


def test_around_a_document_there_is_nothing(cli: Cli) -> None:
    """Fault: --around was taken for a document, all of which is shown."""
    indexed(cli)
    status, out, err = cli("show", "docs/refunds.md", "--in", "docs.db", "--around", "3")
    assert (status, out) == (2, "")
    assert "--around has no effect on a document" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ["index", "--to", "new.db"],
        ["index", "docs", "--to", "new.db"],
        ["index", "--to", "docs.db", "--rebuild"],
        ["index", "docs", "--to", "new.db", "--embedder"],
        ["index", "docs", "--to", "new.db", "--by"],
        ["index", "docs", "--to", "new.db", "--encoding"],
        ["index", "docs", "--to"],
        ["search", "refund", "--in"],
        ["verify"],
        ["chunk", "docs", "--fit"],
        ["chunk", "docs", "--max-size", "256", "--tokenizer"],
        ["chunk", "docs", "--by"],
        ["chunk", "docs", "--encoding"],
        ["explain", "docs/refunds.md", "--fit"],
        ["snippet", "refund", "docs/refunds.md", "--encoding"],
        ["import", "docs.bundle", "--to", "new.db", "--embedder"],
        ["eval", "docs", "--by"],
        ["eval", "docs", "--embedder"],
        ["questions", "docs", "--encoding"],
        ["chunk"],
        ["explain"],
        ["snippet", "refund"],
        ["eval"],
        ["questions"],
        ["show", "--in", "docs.db"],
        ["remove", "--in", "docs.db"],
        ["import", "--to", "new.db"],
        ["export", "--in", "docs.db", "--to"],
    ],
)
def test_an_empty_name_is_refused(cli: Cli, work: Path, arguments: list[str]) -> None:
    """Fault: an unset variable of a shell indexed the current folder, or dropped the proof."""
    indexed(cli)
    status, out, err = cli(*arguments, "")
    assert (status, out) == (2, "")
    assert err.startswith(f"spanwise {arguments[0]}: ")
    assert not (work / "new.db").exists()


def test_what_failed_is_named_where_no_question_can_be_made(cli: Cli, work: Path) -> None:
    """Fault: only the kinds of text were blamed, not the file that could not be read."""
    (work / "few").mkdir()
    (work / "few/a.md").write_text("# A\n", "utf-8")
    (work / "few/b.txt").write_bytes("caf\xe9 au lait, tr\xe8s chaud".encode("latin-1") * 20)
    for arguments in (["questions", "few"], ["eval", "few", "--embedder", "none"]):
        status, _, err = cli(*arguments)
        assert status == 1
        assert "b.txt" in err
        assert "no questions can be made" in err


@pytest.mark.parametrize(
    "verb",
    [
        ["search", "x", "--in"],
        ["show", "x", "--in"],
        ["documents", "--in"],
        ["verify"],
        ["export", "--to", "b", "--in"],
        ["remove", "x", "--in"],
    ],
)
def test_an_index_that_is_none(cli: Cli, work: Path, verb: list[str]) -> None:
    status, out, err = cli(*verb, "none.db")
    assert (status, out) == (1, "")
    assert "there is no such index; make it with spanwise index FOLDER --to FILE" in err
    assert not (work / "none.db").exists()
    Path("text.db").write_text("This is no database at all. " * 99)
    status, out, err = cli(*verb, "text.db")
    assert (status, out) == (1, "")
    assert "it is damaged or no index" in err
    sqlite3.connect("other.db").execute("CREATE TABLE a (b)").connection.close()
    status, out, err = cli(*verb, "other.db")
    assert (status, out) == (1, "")
    assert "it is a database of another kind" in err
    assert len(err.splitlines()) == 1


def test_a_damaged_index(cli: Cli) -> None:
    for at in range(12):
        (Path("docs") / f"{at}.md").write_text(f"# Part {at}\n\n" + f"Words of part {at}. " * 200)
    indexed(cli)
    whole, chance = Path("docs.db").read_bytes(), random.Random(7)
    for at in range(100, len(whole), len(whole) // 40):
        Path("docs.db").write_bytes(whole[:at] + chance.randbytes(400) + whole[at + 400 :])
        for end in ("-wal", "-shm"):
            Path(f"docs.db{end}").unlink(missing_ok=True)
        for verb in (
            ["search", "words", "--in"],
            ["show", "docs/3.md", "--in"],
            ["documents", "--in"],
            ["verify"],
            ["export", "--to", "b", "--in"],
        ):
            status, _, err = cli(*verb, "docs.db")
            assert status in (0, 1), (at, verb, err)
            assert "Traceback" not in err
            if status and not err:
                assert verb == ["verify"]
    Path("docs.db").write_bytes(whole[: len(whole) // 2])
    status, _, err = cli("verify", "docs.db")
    assert status == 1


def test_bytes_that_are_no_text_any_more_are_damage(cli: Cli) -> None:
    indexed(cli)
    with sqlite3.connect("docs.db") as file:
        file.execute("UPDATE chunks SET about = '{\"context\":'")
    file.close()
    status, _, err = cli("search", "refund", "--in", "docs.db")
    assert status == 1
    assert "docs.db: what it holds cannot be read (JSONDecodeError" in err
    assert "spanwise verify lists what is damaged" in err
    status, out, err = cli("verify", "docs.db")
    assert status == 1
    assert "cannot be read" in out + err


@POSIX
def test_progress_is_for_a_terminal_and_for_many_documents() -> None:
    for at in range(150):
        (Path("docs") / f"{at}.md").write_text(f"# Part {at}\n\nWords.")
    status, sent = on_terminal("index", "docs", "--to", "docs.db")
    assert status == 0
    assert "/152" in unstyled(sent)
    assert b"\x1b" not in command("index", "docs", "--to", "other.db")[2]


SLOW = """
import time
from spanwise.index import ingest
real = ingest.Run.add
def slow(self, uri, *rest, **more):
    real(self, uri, *rest, **more)
    print(uri, flush=True)
    time.sleep(60)
ingest.Run.add = slow
from spanwise.cli import main
main()
"""


@POSIX
def test_ctrl_c_is_one_line_and_the_next_run_goes_on() -> None:
    running = subprocess.Popen(
        [sys.executable, "-c", SLOW, "index", "docs", "--to", "docs.db"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert running.stdout
    assert running.stdout.readline() == b"docs/refunds.md\n"
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert err == b"stopped; what is written is kept, and the same command goes on from it\n"
    status, out, _ = command("index", "docs", "--to", "docs.db")
    (report,) = records(out)
    assert (status, report["added"] + report["unchanged"]) == (0, 2)
    assert command("verify", "docs.db")[0] == 0


def wait_for(told: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not told():
        assert time.monotonic() < until
        time.sleep(0.02)


@POSIX
def test_every_so_often_until_ctrl_c(tmp_path: Path) -> None:
    out, err = tmp_path / "out", tmp_path / "err"
    with out.open("wb") as stdout, err.open("wb") as stderr:
        running = subprocess.Popen(
            [*COMMAND, "index", "docs", "--to", "docs.db", "--every", "0.05"],
            stdout=stdout,
            stderr=stderr,
        )
        try:
            wait_for(lambda: out.read_bytes().count(b"\n") == 1)
            Path("docs/new.md").write_text("# New\n\nText.")
            wait_for(lambda: out.read_bytes().count(b"\n") == 2)
            Path("docs").rename("away")
            wait_for(lambda: b"there is no such folder" in err.read_bytes())
            Path("away").rename("docs")
            Path("docs/new.md").unlink()
            wait_for(lambda: out.read_bytes().count(b"\n") == 3)
            (Path("docs") / "bad.md").write_bytes(b"\xff")
            wait_for(lambda: b"docs/bad.md: byte 0" in err.read_bytes())
        finally:
            running.send_signal(signal.SIGINT)
        assert running.wait(timeout=60) == 130
    first, second, third = records(out.read_bytes())
    assert (first["added"], second["added"], third["removed"]) == (2, 1, ["docs/new.md"])
    assert err.read_bytes().count(b"there is no such folder") == 1
    assert err.read_bytes().count(b"docs/bad.md") == 1


# search --------------------------------------------------------------------------------------


def test_hits_in_a_pipe(cli: Cli) -> None:
    indexed(cli)
    status, out, err = command("search", "refund", "--in", "docs.db")
    assert (status, err) == (0, b"")
    (hit,) = records(out)
    assert hit["citation"] == "refunds.md, lines 1-3, Refunds"
    assert hit["words"] == ["Refunds", "refund"]
    assert (hit["words_rank"], hit["meaning_rank"]) == (1, None)
    with Index.open("docs.db", read_only=True) as index:
        assert hit == json.loads(json.dumps(index.search("refund")[0].to_dict()))


@pytest.mark.parametrize("form", ["text", "jsonl", "html"])
@pytest.mark.parametrize("more", [[], ["--explain"]])
def test_the_width_of_a_snippet_is_that_of_each_format(
    cli: Cli, form: str, more: list[str]
) -> None:
    """Fault: JSON lines had a snippet of 200 characters, whatever was asked for."""
    Path("docs/long.md").write_text("# Long\n\n" + "A refund among many words. " * 12)
    indexed(cli)
    ask = ("search", "refund", "--in", "docs.db", "--limit", "1", "--format", form, *more)
    sizes = [len(cli(*ask, "--width", width)[1]) for width in (10, 60, 200)]
    assert sizes == sorted(set(sizes))


@POSIX
@pytest.mark.parametrize("columns", [60, 80, 120])
def test_hits_on_a_terminal(cli: Cli, columns: int) -> None:
    shutil.copytree(SAMPLES, "docs/samples")
    indexed(cli)
    status, sent = on_terminal(
        "search", "late refund", "--in", "docs.db", "--limit", "4", columns=columns
    )
    assert status == 0
    assert "\x1b[1;33mrefund" in sent
    lines = unstyled(sent).splitlines()
    assert lines[0].startswith("1  returns-handbook.md, lines ")
    assert any(line.lstrip().startswith("1st by words (") for line in lines)
    assert any("docs/samples/returns-handbook.md#" in line for line in lines)
    assert [line[0] for line in lines if re.match(r"\d", line)] == ["1", "2", "3", "4", "4"]
    assert lines[-1] == "4 passages, by words"
    assert all(len(line) <= columns for line in lines)


@POSIX
@WORDLLAMA
def test_both_ranks_on_a_terminal(cli: Cli) -> None:
    pytest.importorskip("wordllama")
    indexed(cli, "--embedder", "wordllama")
    _, sent = on_terminal("search", "refund", "--in", "docs.db")
    assert "1st by words (Refunds, refund), 1st by meaning" in unstyled(sent)
    assert "passages, by words and meaning" in unstyled(sent)


def test_filters_and_namespaces(cli: Cli) -> None:
    indexed(cli, "--metadata", "team=a", "--include", "refunds.md")
    Path("more").mkdir()
    Path("more/refunds.md").write_text("Another refund.")
    assert cli("index", "more", "--to", "docs.db", "--metadata", "team=b")[0] == 0
    indexed(cli, "--namespace", "other")

    def names(*options: str) -> set[object]:
        status, out, _ = cli("search", "refund", "--in", "docs.db", *options)
        assert (status == 0) == bool(out)
        return {each["doc_uri"] for each in records(out)}

    assert names() == {"docs/refunds.md", "more/refunds.md"}
    assert names("--where", "team=a") == {"docs/refunds.md"}
    assert names("--where", "team=a", "--where", "team=b") == names()
    assert names("--where", "team=a", "--where", "year=2024") == set()
    assert names("--namespace", "other") == {"docs/refunds.md"}
    assert names("--namespace", "none") == set()


def test_pairs_are_read() -> None:
    pairs = ["a=1", "b=1.5", "c=true", "d=null", 'e="1"', "f=x=y", "g=", "h=[1]", "i=NaN", "j=007"]
    assert read_pairs("--where", pairs) == {
        "a": 1,
        "b": 1.5,
        "c": True,
        "d": None,
        "e": "1",
        "f": "x=y",
        "g": "",
        "h": "[1]",
        "i": "NaN",
        "j": "007",
    }
    assert read_pairs("--where", ["a=1e999"]) == {"a": "1e999"}
    with pytest.raises(OptionError, match="is no KEY=VALUE"):
        read_pairs("--where", ["a"])


def test_nothing_found_says_what_to_try(cli: Cli) -> None:
    indexed(cli)

    def said(query: str, *options: str) -> str:
        status, out, err = cli("search", query, "--in", "docs.db", *options)
        assert (status, out) == (1, "")
        assert len(err.splitlines()) == 1
        return err

    for form in ("text", "jsonl", "html"):
        assert "no passage answers 'xyzzy' by words" in said("xyzzy", "--format", form)
    assert "the query is empty" in said(" ")
    assert "no document fits --where team=a" in said("refund", "--where", "team=a")
    assert "the namespace 'a' holds no document; those that do are the one without a name" in said(
        "refund", "--namespace", "a"
    )
    assert "1 passage found, and none returned: its score" in said("refund", "--min-score", "99")
    assert "would be over the budget of 5 chars" in said("refund", "--budget", "5")
    cli("remove", "--in", "docs.db", "docs/refunds.md", "docs/shipping.md")
    assert "it holds no document; add some with spanwise index FOLDER" in said("refund")


def test_explain_lists_every_candidate(cli: Cli) -> None:
    indexed(cli)
    ask = ("search", "takes days", "--in", "docs.db", "--explain", "--limit", "1")
    status, out, _ = cli(*ask)
    first, second = records(out)
    assert status == 0
    assert (first["returned"], first["why"], first["text"][:1]) == (True, "returned", "#")
    assert (second["returned"], second["why"]) == (False, "over limit=1")
    assert "text" not in second
    assert second["words_rank"] in (1, 2)  # as good as the first
    status, out, err = cli(*ask, "--format", "text")
    assert "over limit=1" in out
    assert err == "1 passage of 2 looked at, by words\n"
    _, out, _ = cli(*ask, "--format", "html")
    assert out.count("<tr>") == 3
    status, out, err = cli(*ask, "--min-score", "99")
    assert (status, [each["returned"] for each in records(out)]) == (1, [False, False])


def test_more_around_a_hit(cli: Cli) -> None:
    sections = (f"## Part {at}\n\nWords of part {at}. " + "More. " * 80 for at in range(5))
    Path("docs/long.md").write_text("# Long\n\n" + "\n\n".join(sections))
    indexed(cli)
    sizes = {}
    for expand in ("0", "1", "section", "document"):
        _, out, _ = cli("search", '"part 2"', "--in", "docs.db", "--expand", expand)
        sizes[expand] = len(str(records(out)[0]["text"]))
    assert sizes["0"] < sizes["1"] < sizes["document"]
    assert sizes["section"] == sizes["0"]


@POSIX
def test_a_document_cannot_drive_the_terminal_or_the_page(cli: Cli) -> None:
    name = 'a\x1b[35m\n<b onx="1">.md'
    (Path("docs") / name).write_bytes(
        b"# A \x1b]0;title\x07 <script>\n\nOne refund \x1b[2J.\xc2\x9b5m \xe2\x80\xae <img>"
    )
    (Path("docs") / "bad\x1b[35m.md").write_bytes(b"\xff")
    status, sent = on_terminal(
        "index", "docs", "--to", "docs\x1b[35m.db", "--metadata", "k\x1b[35m=\x1b[2J"
    )
    assert status == 1
    assert has_no_command(sent)
    common = ("--in", "docs\x1b[35m.db")
    uri = next(
        str(each["uri"])
        for each in records(cli("documents", *common)[1])
        if "onx" in str(each["uri"])
    )
    for arguments in (
        ("search", "refund", *common),
        ("search", "refund", *common, "--explain"),
        ("search", "refund", *common, "--explain", "--format", "html"),
        ("search", "refund", *common, "--min-score", "99"),
        ("search", "\x1b[35mxyzzy", *common),
        ("show", uri, *common),
        ("show", "\x1b[35m", *common),
        ("documents", *common),
        ("documents", *common, "--where", "k\x1b[35m=\x1b[2J"),
        ("verify", common[1]),
        ("export", *common, "--to", "b\x1b[35m"),
        ("import", "b\x1b[35m", "--to", "c\x1b[35m.db"),
        ("remove", uri, "\x1b[35m", *common),
    ):
        _, sent = on_terminal(*arguments)
        assert has_no_command(sent), arguments
    status, out, _ = cli("search", "refund", "--in", "c\x1b[35m.db", "--format", "html")
    assert status == 0
    assert not re.search(r"<(?!/?(ol|li|cite|p|mark|small)\b)", out)
    assert 'onx="' not in out


@pytest.mark.skipif(sys.platform != "linux", reason="names that are no UTF-8 exist on Linux")
@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_no_name_and_no_character_breaks_the_output(encoding: str) -> None:
    (Path("docs") / os.fsdecode(b"a\xff.md")).write_text("# 日本\n\n返金 🏮\n", encoding="utf-8")
    for form in ("text", "json"):
        status, out, err = command(
            "index", "docs", "--to", "docs.db", "--format", form, PYTHONIOENCODING=encoding
        )
        assert status == 0, err
        out.decode(encoding)
    for form in ("text", "jsonl", "html"):
        ask = ("search", "返金", "--in", "docs.db", "--explain", "--format", form)
        status, out, err = command(*ask, PYTHONIOENCODING=encoding)
        assert status == 0, err
        assert out.decode(encoding)
    for verb in (["documents", "--in"], ["verify"], ["export", "--to", "b", "--in"]):
        status, out, err = command(*verb, "docs.db", PYTHONIOENCODING=encoding)
        assert status == 0, err


@POSIX
def test_wide_characters_keep_to_the_screen(cli: Cli) -> None:
    text = "# 日本からのお客様へ\n\n" + "返金はお支払いと同じ方法で行います。" * 20
    (Path("docs") / "日本語のとても長い名前の文書.md").write_text(text, encoding="utf-8")
    indexed(cli)
    for verb in (["search", "返金", "--explain"], ["documents"]):
        _, sent = on_terminal(*verb, "--in", "docs.db")
        for line in unstyled(sent).splitlines():
            assert len(line) + sum("\u2e80" < each < "\uffef" for each in line) <= 80


def test_an_embedder_that_fails_names_the_way_round(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(self: Index, query: str, **options: object) -> None:
        raise EmbedderError("no-such-host: it does not answer")

    indexed(cli)
    monkeypatch.setattr(Index, "search", fails)
    status, out, err = cli("search", "x", "--in", "docs.db")
    assert (status, out) == (1, "")
    assert err == (
        "spanwise search: no-such-host: it does not answer\n"
        "--mode words searches without the embedder\n"
    )


@POSIX
def test_a_closed_pipe_is_quiet(cli: Cli) -> None:
    Path("docs/long.txt").write_text("\n\n".join(f"A refund of {at}. " * 20 for at in range(3000)))
    indexed(cli)
    running = subprocess.Popen(
        [*COMMAND, "show", "docs/long.txt", "--in", "docs.db"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert running.stdout and running.stderr
    assert running.stdout.readline()
    running.stdout.close()
    err = running.stderr.read()
    running.stderr.close()
    assert (running.wait(timeout=60), err) == (141, b"")


# show, documents -----------------------------------------------------------------------------


def test_show_a_passage_and_what_is_around_it(cli: Cli) -> None:
    sections = (f"## Part {at}\n\nWords of part {at}. " + "More. " * 80 for at in range(4))
    Path("docs/long.md").write_text("# Long\n\n" + "\n\n".join(sections))
    indexed(cli)
    _, out, _ = cli("show", "docs/long.md", "--in", "docs.db")
    whole = records(out)
    assert [each["index"] for each in whole] == list(range(len(whole)))
    wanted = str(whole[2]["id"])
    _, out, _ = cli("show", wanted, "--in", "docs.db")
    assert records(out) == [whole[2]]
    _, out, _ = cli("show", wanted, "--in", "docs.db", "--around", "1")
    assert records(out) == whole[1:4]
    _, out, _ = cli("show", str(whole[0]["id"]), "--in", "docs.db", "--around", "1")
    assert records(out) == whole[:2]
    _, out, _ = cli("show", wanted, "--in", "docs.db", "--format", "text")
    assert out.startswith(f"{whole[2]['citation']}\n{wanted}\ncontext: Long\n\n## Part 2\n\nWords")


def test_show_what_is_not_there(cli: Cli) -> None:
    indexed(cli)
    for name, said in (
        ("docs/none.md", "it has no document 'docs/none.md'; spanwise documents lists them"),
        ("docs/none.md#1", "it has no document 'docs/none.md'; spanwise documents lists them"),
        ("docs/refunds.md#1", "it has no passage 'docs/refunds.md#1'"),
    ):
        status, out, err = cli("show", name, "--in", "docs.db")
        assert (status, out) == (1, "")
        assert said in err


def test_a_document_whose_name_looks_like_a_passage(cli: Cli) -> None:
    (Path("docs") / "c#.md").write_text("# Sharp\n\nA language.")
    indexed(cli)
    (only,) = records(cli("show", "docs/c#.md", "--in", "docs.db")[1])
    assert records(cli("show", str(only["id"]), "--in", "docs.db")[1]) == [only]


def test_documents_in_a_pipe_and_as_a_table(cli: Cli) -> None:
    indexed(cli, "--metadata", "team=a", "--metadata", "team=b", "--metadata", "year=2024")
    _, out, _ = cli("documents", "--in", "docs.db")
    first, _ = records(out)
    assert (first["uri"], first["chunks"]) == ("docs/refunds.md", 1)
    assert first["metadata"]["team"] == ["a", "b"]
    _, out, err = cli("documents", "--in", "docs.db", "--format", "text")
    assert "team=a|b" in out
    assert "encoding" not in out
    assert err == "2 documents, 2 passages\n"
    status, out, err = cli("documents", "--in", "docs.db", "--where", "team=c")
    assert (status, out) == (1, "")
    assert "no document fits --where team=c" in err


# verify, bundles, remove ---------------------------------------------------------------------


def test_verify_lists_every_difference(cli: Cli) -> None:
    (Path("docs") / "gone.md").write_text("Gone.")
    indexed(cli)
    assert cli("verify", "docs.db")[0] == 0
    status, out, _ = cli("verify", "docs.db", "--format", "text")
    assert (status, out) == (0, "docs.db  3 documents, 3 passages, all is well\n")
    Path("docs/refunds.md").write_text("Other.")
    (Path("docs") / "gone.md").unlink()
    (Path("docs") / "new.md").write_text("New.")
    status, out, err = cli("verify", "docs.db")
    (report,) = records(out)
    assert (status, err) == (1, "")
    assert [(each["kind"], each["uri"]) for each in report["differences"]] == [
        ("missing", "docs/gone.md"),
        ("changed", "docs/refunds.md"),
        ("new", "docs/new.md"),
    ]
    status, out, _ = cli("verify", "docs.db", "--format", "text")
    assert "3 documents, 3 passages, 3 differences" in out
    assert "  changed  docs/refunds.md: its file is not the one that was indexed\n" in out
    assert cli("verify", "docs.db", "--no-files")[0] == 0


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anything")
def test_an_index_that_may_not_be_written(cli: Cli) -> None:
    Path("fixed").mkdir()
    assert cli("index", "docs", "--to", "fixed/docs.db")[0] == 0
    Path("fixed/docs.db").chmod(0o400)
    Path("fixed").chmod(0o500)
    try:
        assert cli("search", "refund", "--in", "fixed/docs.db")[0] == 0
        assert cli("verify", "fixed/docs.db")[0] == 0
    finally:
        Path("fixed").chmod(0o700)


def test_a_bundle_there_and_back(cli: Cli, work: Path) -> None:
    indexed(cli)
    status, out, err = cli("export", "--in", "docs.db", "--to", "docs.bundle")
    assert (status, out, err) == (0, "", "2 documents written to docs.bundle\n")
    status, out, err = cli("import", "docs.bundle", "--to", "copy.db")
    assert (status, out, err) == (0, "", "2 documents read into copy.db\n")
    assert (
        cli("search", "refund", "--in", "copy.db")[1]
        == (cli("search", "refund", "--in", "docs.db")[1])
    )
    status, _, err = cli("import", "docs.bundle", "--to", "other.db", "--chunk-size", "99")
    assert status == 1
    assert "import it with the --embedder and the options for cutting that it was made with" in err
    assert not (work / "other.db").exists()
    for bad in ("docs.db", "none"):
        status, _, err = cli("import", bad, "--to", "other.db")
        assert status == 1
        assert len(err.splitlines()) == 1
        assert not (work / "other.db").exists()
    status, _, err = cli("export", "--in", "docs.db", "--to", "b", "--namespace", "none")
    assert status == 1
    assert "the namespace 'none' holds no documents" in err


def test_remove(cli: Cli) -> None:
    indexed(cli, "--metadata", "team=a")
    status, out, err = cli("remove", "--in", "docs.db", "docs/refunds.md", "none.md")
    assert (status, out) == (1, "docs/refunds.md\n")
    assert err == "1 document taken out\nnone.md: docs.db holds no such document\n"
    status, out, err = cli("remove", "--in", "docs.db", "--where", "team=b")
    assert (status, out) == (1, "")
    assert "no document fits --where team=b" in err
    status, out, _ = cli("remove", "--in", "docs.db", "--where", "team=a")
    assert (status, out) == (0, "docs/shipping.md\n")
    assert Path("docs/shipping.md").exists()
    assert cli("documents", "--in", "docs.db")[0] == 1


@pytest.mark.parametrize("verb", [("documents",), ("search", "alpha"), ("show", "a.md")], ids=str)
def test_lines_are_json_whatever_the_metadata(cli: Cli, verb: tuple[str, ...]) -> None:
    """Fault: a number that JSON does not know was written as NaN."""
    with Index.open("n.db") as index:
        index.add(Document(text="alpha", uri="a.md"), metadata={"n": float("nan")})
    status, out, _ = cli(*verb, "--in", "n.db", "--format", "jsonl")
    assert status == 0
    assert '"n": null' in out
    json.loads(out, parse_constant=pytest.fail)


# the rest ------------------------------------------------------------------------------------


def test_what_is_said_in_python_is_said_as_typed() -> None:
    """Each phrase is one that the library says; its parts may be in two strings there."""
    source = "".join(
        path.read_text(encoding="utf-8")
        for part in ("index", "embedders")
        for path in (ROOT / "src" / "spanwise" / part).glob("*.py")
    )
    said = re.sub(r'"\s+f?"', "", source)
    said = said.replace("{what}", "embedder") + said.replace("{what}", "splitter")
    for python, _ in sum(edge._OF_VERB.values(), edge._AS_TYPED):
        assert python in said, python


def test_ways_out_are_those_of_the_command_line(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fault: messages named options of Python, or of another verb, such as attempts, --rebuild."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr(transport, "sleep", lambda seconds: None)
    server = "http://127.0.0.1:9/v1#m"
    indexed(cli)
    assert cli("export", "--in", "docs.db", "--to", "b")[0] == 0
    for arguments, said in (
        (
            ["index", "docs", "--to", "new.db", "--embedder", server],
            "the server runs, and the proxies of the environment\n",
        ),
        (["search", "x", "--in", "docs.db", "--mode", "meaning"], "index anew with --embedder\n"),
        (["eval", SAMPLES, "--mode", "meaning"], "search by words, or give --embedder\n"),
        (["eval", "docs", "--by", "whole:5"], "has no size to fill to; give --by whole\n"),
        (
            ["import", "b", "--to", "docs.db", "--chunk-size", "99"],
            "leave the options for cutting out to go on with it, or import into another file\n",
        ),
        (
            ["import", "b", "--to", "docs.db", "--embedder", server],
            "leave --embedder out to go on with it, or import into another file\n",
        ),
    ):
        status, _, err = cli(*arguments)
        assert status in (1, 2)
        assert err.endswith(said), err
        assert not re.search(r"attempts=|rebuild|api_key|--max-size", err)
    assert edge.as_typed("no key was sent; pass api_key, or set OPENAI_API_KEY") == (
        "no key was sent; set OPENAI_API_KEY"
    )
    assert edge.as_typed("raise timeout=60.0, lower batch_size, or raise attempts=3") == (
        "try again, or give a server that is quicker"
    )


def test_a_file_with_documents_is_not_taken_away(cli: Cli) -> None:
    indexed(cli)
    opened._take_away("docs.db")
    assert Path("docs.db").exists()
    Path("other.db").write_text("something else")
    opened._take_away("other.db")
    assert Path("other.db").exists()


def test_help_has_examples(cli: Cli) -> None:
    for verb in ("index", "search", "show", "documents", "remove", "verify", "export", "import"):
        status, out, _ = cli(verb, "--help")
        assert status == 0
        assert "Example" in out
        assert f"spanwise {verb} " in out


def test_a_run_that_fails_leaves_alone_a_new_index_that_another_has_open(
    cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "none").mkdir()
    file = tmp_path / "new.db"
    status, _, err = cli("index", tmp_path / "none", "--to", file)
    assert (status, file.exists()) == (1, False)
    assert "no document" in err
    with Index.open(file) as other:
        opened._take_away(str(file))
        other.add(Document(text="Text.", uri="a.md"))
    opened._take_away(str(file))
    with Index.open(file) as index:
        assert len(index.documents()) == 1
