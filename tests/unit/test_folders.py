"""Folders and archives: which files are to be read, in an order that stays."""

from __future__ import annotations

import io
import os
import random
import shutil
import stat
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from spanwise import LoadError, OptionError
from spanwise.loaders.base import Raw
from spanwise.loaders.folders import find_files
from spanwise.loaders.ignore import last_match, read_rules
from spanwise.loaders.members import archive_members, is_archive

SUFFIXES = (".md", ".txt")
POSIX = pytest.mark.skipif(os.name == "nt", reason="links and any bytes need POSIX")
GIT = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
GIT_ENV = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}


def make(root: Path, *names: str) -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"A")
    return root


def found(root: Path, **options: object) -> list[str]:
    paths = find_files(root, **options)  # type: ignore[arg-type]
    return [path.relative_to(root).as_posix() for path in paths]


# Folders


@POSIX
def test_a_folder_in_order(tmp_path: Path) -> None:
    names = (
        "b.md",
        "a/z.txt",
        "a/B.MD",
        "a.txt",
        "a-b/c.md",
        "c.png",
        ".git/x.md",
        ".h.md",
        "d.py",
    )
    make(tmp_path, *names)
    (tmp_path / "a/loop").symlink_to(tmp_path)
    (tmp_path / "a/loop.md").symlink_to(tmp_path)
    (tmp_path / "l.md").symlink_to(tmp_path / "a/B.MD")
    (tmp_path / "broken.md").symlink_to(tmp_path / "none")
    (tmp_path / "self.md").symlink_to(tmp_path / "self.md")
    os.mkfifo(tmp_path / "pipe.md")
    assert found(tmp_path, suffixes=SUFFIXES) == [
        *("a/B.MD", "a/z.txt", "a-b/c.md", "a.txt", "b.md", "broken.md", "l.md", "self.md")
    ]
    assert "c.png" in found(tmp_path)
    assert "pipe.md" not in found(tmp_path)


@pytest.mark.parametrize(
    ("include", "names"),
    [
        ("*.md", ["a.md", "docs/b.md", "docs/deep/c.md"]),
        ("/*.md", ["a.md"]),
        ("docs/**", ["docs/b.md", "docs/deep/c.md", "docs/deep/d.txt"]),
        ("docs", ["docs/b.md", "docs/deep/c.md", "docs/deep/d.txt"]),
        ("docs/*", ["docs/b.md", "docs/deep/c.md", "docs/deep/d.txt"]),
        ("**/deep/*.md", ["docs/deep/c.md"]),
        ("*.foo", ["docs/e.foo", "x.foo"]),
        ("docs/*.foo", ["docs/e.foo"]),
        (["*.md", "!deep"], ["a.md", "docs/b.md"]),
        (["**", "!*.md"], ["docs/deep/d.txt"]),
        (".github/**", [".github/g.md"]),
        (".*", [".env", ".github/g.md", ".github/.j.md", ".hidden.md", "docs/.i.md"]),
        (".hidden.md", [".hidden.md"]),
        ("nothing", []),
    ],
)
def test_include(tmp_path: Path, include: list[str], names: list[str]) -> None:
    make(tmp_path, "a.md", "docs/b.md", "docs/deep/c.md", "docs/deep/d.txt", "docs/e.foo", "x.foo")
    make(tmp_path, ".env", ".hidden.md", ".github/g.md", ".github/.j.md", "docs/.i.md")
    assert sorted(found(tmp_path, include=include, suffixes=SUFFIXES)) == sorted(names)


def test_exclude_goes_before_include(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "drafts/b.md", "docs/drafts/c.md", "docs/keep.md", "docs/x.md")
    assert found(tmp_path, exclude="drafts") == ["a.md", "docs/keep.md", "docs/x.md"]
    assert found(tmp_path, exclude=["/drafts/", "docs/*.md", "!keep.md"]) == [
        *("a.md", "docs/drafts/c.md", "docs/keep.md")
    ]
    assert found(tmp_path, include="*.md", exclude="docs") == ["a.md", "drafts/b.md"]


def test_a_pattern_that_matches_nothing_is_refused(tmp_path: Path) -> None:
    for pattern in ("", "/", "[a", "a\\"):
        with pytest.raises(OptionError, match=r"^include has the pattern .*matches no path"):
            find_files(tmp_path, include=[pattern])


def test_no_pattern_takes_long() -> None:
    (rule,) = read_rules("*a" * 40 + "*b\n")
    assert not rule.fits(["a" * 255], False)
    (rule,) = read_rules("**/a/" * 20 + "b\n")
    assert not rule.fits(["a"] * 200, False)


def test_only_this_folder(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "docs/b.md")
    assert found(tmp_path, recursive=False) == ["a.md"]


def test_large_files_are_reported(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "b.md")
    (tmp_path / "b.md").write_bytes(b"A" * 11)
    errors: list[LoadError] = []
    assert found(tmp_path, most_bytes=10, on_error=errors.append) == ["a.md"]
    assert "b.md: it has 11 bytes, more than most_bytes=10; raise" in str(errors[0])
    assert found(tmp_path, most_bytes=11) == ["a.md", "b.md"]
    with pytest.raises(LoadError, match="most_bytes=10"):
        find_files(tmp_path, most_bytes=10)


@POSIX
def test_links_are_followed_once(tmp_path: Path) -> None:
    make(tmp_path, "root/z/a.md", "root/b.md", "out/c.md", "out/sub/d.md")
    root = tmp_path / "root"
    (root / "a-link").symlink_to(root / "z")
    (root / "loop").symlink_to(root)
    (root / "far").symlink_to(tmp_path / "out")
    (root / "far2").symlink_to(tmp_path / "out")
    (tmp_path / "out/back").symlink_to(root)
    (root / "none").symlink_to(tmp_path / "none")
    assert found(root) == ["b.md", "none", "z/a.md"]
    assert found(root, follow_links=True) == [
        *("b.md", "far/c.md", "far/sub/d.md", "none", "z/a.md")
    ]


@POSIX
@pytest.mark.skipif(sys.platform == "darwin", reason="names are UTF-8 there")
def test_names_of_any_bytes(tmp_path: Path) -> None:
    names = [b"\xff\xfe.md", b"new\nline.md", "größe.md".encode(), b"sp ace.md"]
    for name in names:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_bytes(b"A" * 9)
    assert sorted(os.fsencode(path.name) for path in find_files(tmp_path)) == sorted(names)
    (tmp_path / ".gitignore").write_bytes(b"\xff*\ngr\xc3\xb6?e.md\n")
    # For git a question mark is one byte, and this letter has two.
    assert len(find_files(tmp_path)) == 3
    errors: list[LoadError] = []
    find_files(tmp_path, ignore_files=False, most_bytes=1, on_error=errors.append)
    assert any(r"\udcff" in str(error) for error in errors)
    assert all(str(error).encode() for error in errors)


def test_a_folder_that_cannot_be_listed(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="the folder cannot be listed"):
        find_files(tmp_path / "none")
    errors: list[LoadError] = []
    assert find_files(make(tmp_path, "a") / "a", on_error=errors.append) == []
    assert find_files("nul\0", on_error=errors.append) == []
    assert len(errors) == 2


# Ignore files, held against git


def git(root: Path, *args: str, stdin: bytes = b"") -> bytes:
    done = subprocess.run(
        ["git", *args],
        cwd=root,
        env={**os.environ, **GIT_ENV},
        input=stdin,
        capture_output=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def kept_by_git(root: Path) -> list[str]:
    raw = git(root, "ls-files", "-z", "--others", "--exclude-standard")
    names = [os.fsdecode(name) for name in raw.split(b"\0") if name]
    dotted = [name for name in names if any(part[0] == "." for part in name.split("/"))]
    return sorted(set(names) - set(dotted), key=lambda name: name.split("/"))


@GIT
@POSIX
def test_ignore_files_as_git_reads_them(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    make(tmp_path, "a.md", "a.log", "keep.log", "build/x.md", "src/build/y.md", "src/build.md")
    make(tmp_path, "docs/a.md", "docs/deep/a.md", "docs/deep/a.log", "docs/deep/keep.log")
    make(tmp_path, "top.txt", "docs/top.txt", "x/y/z/end.md", "x/end.md", "#hash.md", "!bang.md")
    make(
        tmp_path, "space .md", "trail ", "a[1].md", "b1.md", "star*.md", "vendor/a/b.md", "tmp/k.md"
    )
    (tmp_path / ".gitignore").write_bytes(
        b"\xef\xbb\xbf# a comment\r\n*.log\r\n!keep.log\n\nbuild/\n/top.txt\nx/**/end.md\n"
        b"\\#hash.md\n\\!bang.md\ntrail\\ \na[[]1].md\nb[0-9].md   \nstar\\*.md\nvendor/*\n"
        b"!vendor/a\ntmp/**\n!tmp/k.md"
    )
    (tmp_path / "docs/.gitignore").write_text("!a.log\ntop.txt\n/deep/a.md\n")
    (tmp_path / "docs/deep/.gitignore").write_text("keep.log\n")
    names = found(tmp_path)
    assert names == kept_by_git(tmp_path)
    for name in ("keep.log", "docs/deep/a.log", "src/build.md", "vendor/a/b.md", "tmp/k.md"):
        assert name in names
    for name in ("a.log", "build/x.md", "x/end.md", "docs/top.txt", "docs/deep/keep.log"):
        assert name not in names
    everything = found(tmp_path, ignore_files=False)
    assert set(names) < set(everything)
    # From inside the repository the files above hold as well.
    assert found(tmp_path / "docs") == [n[5:] for n in names if n.startswith("docs/")]
    assert found(tmp_path / "src/build") == ["y.md"]  # it was asked for by name


@GIT
@POSIX
def test_patterns_as_git_matches_them(tmp_path: Path) -> None:
    dice = random.Random(5)
    git(tmp_path, "init", "-q")
    names = ["a", "b", "ab", "abc", "foo", "a.md", ".x", "a b", "a ", "[a]", "x*", "!a", "\\a", "é"]
    for _ in range(200):
        path = tmp_path.joinpath(*dice.choices(names, k=dice.randint(1, 4)))
        if not any(each.is_file() for each in path.parents) and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"")
    every = [path.relative_to(tmp_path) for path in sorted(tmp_path.rglob("*"))]
    paths = [path for path in every if path.parts[0] != ".git"]
    pieces = [
        "a",
        "b",
        "c",
        "foo",
        ".",
        "é",
        "-",
        " ",
        "!",
        "#",
        "/",
        "/",
        "*",
        "*",
        "?",
        "**/",
        "/**",
    ]
    pieces += ["[ab]", "[!a]", "[a-c]", "[]a]", "[[:alpha:]]", "[a-]", "[c-a]", "[\\]a]", "[", "]"]
    pieces += ["\\", "\\*", "\\ "]
    asked = b"\0".join(os.fsencode(path) for path in paths)
    for _ in range(150):
        pattern = "".join(dice.choices(pieces, k=dice.randint(1, 5)))
        (tmp_path / ".gitignore").write_text(pattern + "\n", encoding="utf-8")
        said = git(tmp_path, "check-ignore", "--no-index", "-z", "--stdin", stdin=asked)
        by_git = set(said.split(b"\0")) - {b""}
        rules = read_rules(pattern.encode().decode("latin-1") + "\n")
        ours = set()
        for path in paths:
            parts = [os.fsencode(part).decode("latin-1") for part in path.parts]
            for end in range(1, len(parts) + 1):
                is_folder = tmp_path.joinpath(*path.parts[:end]).is_dir()
                rule = last_match(rules, parts[:end], is_folder)
                if rule is not None and not rule.negated:
                    ours.add(os.fsencode(path))
        # Letters right before two stars are a slip of git's, which its manual does not have.
        assert ours == by_git, pattern


@POSIX
def test_an_ignore_file_that_is_none(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "b/c.md", "rules")
    (tmp_path / "rules").write_text("*.md\n")
    (tmp_path / ".gitignore").symlink_to(tmp_path / "rules")
    (tmp_path / "b/.gitignore").mkdir()
    assert found(tmp_path) == ["a.md", "b/c.md", "rules"]


# Archives


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return out.getvalue()


def raw_of(data: bytes, name: str = "in/kb.zip") -> Raw:
    return Raw(data=data, name=name, uri=name, suffix=".zip", encoding="cp1252")


def read(data: bytes, **options: object) -> tuple[dict[str, bytes], list[str]]:
    errors: list[LoadError] = []
    members = archive_members(raw_of(data), on_error=errors.append, **options)  # type: ignore[arg-type]
    return {each.uri: each.data for each in members}, [str(error) for error in errors]


@pytest.mark.parametrize(
    "method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
)
def test_members_in_order(method: int) -> None:
    data = zipped(
        {
            "b.MD": b"B",
            "a/z.txt": b"Z",
            "a.txt": b"A",
            "größe.md": "ß".encode(),
            "d/": b"",
            ".h.md": b"H",
            "__MACOSX/._b.md": b"",
            "empty.md": b"",
        },
        method,
    )
    members = list(archive_members(raw_of(data)))
    assert [each.uri for each in members] == [
        f"in/kb.zip/{name}" for name in ("a/z.txt", "a.txt", "b.MD", "empty.md", "größe.md")
    ]
    assert [each.data for each in members] == [b"Z", b"A", b"B", b"", "ß".encode()]
    assert members[2] == Raw(
        data=b"B", name="in/kb.zip/b.MD", uri="in/kb.zip/b.MD", suffix=".md", encoding="cp1252"
    )
    assert [each.data for each in archive_members(raw_of(data), suffixes={".txt"})] == [b"Z", b"A"]


@pytest.mark.skipif(shutil.which("zip") is None, reason="zip is not installed")
def test_an_archive_of_another_program(tmp_path: Path) -> None:
    make(tmp_path, "a/größe.md", "b.txt")
    (tmp_path / "link.md").symlink_to("b.txt")
    subprocess.run(["zip", "-qry", "kb.zip", "."], cwd=tmp_path, check=True)
    got, errors = read((tmp_path / "kb.zip").read_bytes())
    assert got == {"in/kb.zip/a/größe.md": b"A", "in/kb.zip/b.txt": b"A"}
    assert not errors
    subprocess.run(["zip", "-qr", "-P", "x", "secret.zip", "b.txt"], cwd=tmp_path, check=True)
    got, errors = read((tmp_path / "secret.zip").read_bytes())
    assert not got
    assert "in/kb.zip/b.txt: it is encrypted; unpack" in errors[0]


def test_paths_that_lead_out_are_refused() -> None:
    bad = ("/etc/a.md", "../a.md", "a/../../b.md", "C:\\a.md", "c:/b.md", "x\\..\\..\\c.md")
    got, errors = read(zipped({**dict.fromkeys(bad, b"X"), "good.md": b"G"}))
    assert got == {"in/kb.zip/good.md": b"G"}
    assert len(errors) == len(bad)
    assert all("leads out of the archive" in error for error in errors)
    with pytest.raises(LoadError, match="leads out"):
        list(archive_members(raw_of(zipped({"../a.md": b""}))))


def test_a_path_of_very_many_names_is_refused_unseen() -> None:
    data = zipped({"a/" * 30_000 + "b.md": b"B", "x/" * 99 + "c.md": b"C"})
    for options in ({}, {"include": ["**/c.md"]}, {"exclude": ["**/d/*.md", "d/"]}):
        got, errors = read(data, **options)  # type: ignore[arg-type]
        assert list(got.values()) == [b"C"]
        assert "its path has more than 100 names" in errors[0]


def test_a_member_without_a_name_is_refused() -> None:
    got, errors = read(zipped({"": b"X", "a.md": b"A"}))
    assert got == {"in/kb.zip/a.md": b"A"}
    assert "a member has no name" in errors[0]


def test_bombs_are_refused() -> None:
    got, errors = read(zipped({"bomb.txt": bytes(30 << 20), "a.md": b"A"}))
    assert list(got) == ["in/kb.zip/a.md"]
    assert "bomb.txt: it grows from" in errors[0]
    many = {f"{i}.txt": random.Random(i).randbytes(100) for i in range(10)}
    got, errors = read(zipped(many), most_bytes=350)
    assert len(got) == 3
    assert len(errors) == 7
    assert "most_bytes=350" in errors[0]
    # What archives inside hold counts with the rest.
    got, errors = read(zipped({"in.zip": zipped(many)}), most_bytes=2_600)
    assert 0 < len(got) < 10


def test_archives_in_archives() -> None:
    data = b"deep"
    for i in range(4):
        data = zipped({"a.zip" if i else "a.md": data, f"{i}.md": b"M"})
    got, errors = read(data)
    assert list(got) == ["in/kb.zip/3.md", "in/kb.zip/a.zip/2.md", "in/kb.zip/a.zip/a.zip/1.md"]
    assert len(errors) == 1
    assert "kb.zip/a.zip/a.zip/a.zip: it lies more than 2 archives deep" in errors[0]
    got, errors = read(zipped({"a.zip": b"PK\x03\x04 no archive", "b.md": b"B"}))
    assert got == {"in/kb.zip/b.md": b"B"}
    assert "kb.zip/a.zip: it is no ZIP archive that can be read" in errors[0]


@pytest.mark.parametrize(
    ("include", "exclude"),
    [
        (["*.md"], []),
        (["docs/**"], []),
        (["docs"], []),
        (["/a.md"], []),
        (["*.foo"], []),
        (["*.foo", "*.md", "!b.*"], []),
        (["docs/*", "!docs/b.md"], []),
        ([".hid/**"], []),
        ([], ["*.md"]),
        ([], ["docs/"]),
        ([], ["docs/*", "!docs/b.md"]),
        (["docs/**"], ["b.*"]),
        ([], ["deep"]),
        (["deep/"], []),
        (["nothing"], []),
        ([], []),
    ],
)
def test_patterns_choose_members_as_they_do_files(
    include: list[str], exclude: list[str], tmp_path: Path
) -> None:
    names = ("a.md", "b.foo", "docs/a.txt", "docs/b.md", "docs/deep/c.md", "docs/deep/d.foo")
    names += (".hid/e.md", "x/docs/f.md", "x/.g.md")
    make(tmp_path, *names)
    data = zipped(dict.fromkeys((*names, "docs/"), b"A"))
    options = {"include": include, "exclude": exclude, "suffixes": SUFFIXES}
    got, errors = read(data, **options)
    assert not errors
    assert [name.removeprefix("in/kb.zip/") for name in got] == found(tmp_path, **options)


def test_an_archive_inside_is_a_folder_to_patterns() -> None:
    inner = zipped({"a.md": b"A", "docs/b.md": b"B", "c.txt": b"C"})
    data = zipped({"docs/in.zip": inner, "old.zip": inner, "a.md": b"A"})

    def names(*include: str, exclude: tuple[str, ...] = ()) -> list[str]:
        got, errors = read(data, include=include, exclude=exclude, suffixes=SUFFIXES)
        assert not errors
        return [name.removeprefix("in/kb.zip/") for name in got]

    assert names("*.txt") == ["docs/in.zip/c.txt", "old.zip/c.txt"]
    assert names("/docs/**") == [f"docs/in.zip/{each}" for each in ("a.md", "c.txt", "docs/b.md")]
    assert names("old.zip", exclude=("a.md",)) == ["old.zip/c.txt", "old.zip/docs/b.md"]
    assert names(exclude=("*.zip",)) == ["a.md"]
    assert names(exclude=("*.md", "docs/")) == ["old.zip/c.txt"]
    assert names("/a.md") == ["a.md"]


def test_a_member_left_out_is_not_looked_at() -> None:
    data = zipped({"bad/bomb.txt": bytes(30 << 20), "bad/in.zip": b"PK\x03\x04", "a.md": b"A"})
    assert len(read(data)[1]) == 2
    assert read(data, exclude=["bad/"]) == ({"in/kb.zip/a.md": b"A"}, [])
    assert read(data, include=["*.md"], exclude=["in.zip"]) == ({"in/kb.zip/a.md": b"A"}, [])
    with pytest.raises(OptionError, match="exclude has the pattern"):
        read(data, exclude=["["])
    # What is no path inside is refused whatever it is called, unless it is left out.
    outside = zipped({"../../x.md": b"X", "/y.md": b"Y", "./z.md": b"Z"})
    got, errors = read(outside, include=["*.md"])
    assert got == {"in/kb.zip/./z.md": b"Z"}
    assert len(errors) == 2
    assert read(outside, exclude=["*.md"]) == ({}, [])


def test_office_files_are_no_archives() -> None:
    word = zipped({"[Content_Types].xml": b"", "word/document.xml": b""})
    book = zipped({"mimetype": b"application/epub+zip"})
    got, errors = read(zipped({"a.docx": word, "b.epub": book, "c.zip": word}))
    assert not errors
    assert [name[10:] for name in got] == ["a.docx", "b.epub", "c.zip"]
    assert is_archive(raw_of(zipped({"a": b""})))
    assert is_archive(raw_of(zipped({})))
    for data in (word, book, b"", b"text", b"PK"):
        assert not is_archive(raw_of(data))
    with pytest.raises(LoadError, match="Office file or an e-book"):
        list(archive_members(raw_of(word)))


def test_names_of_old_programs() -> None:
    data = zipped({"gr_____.md": b"A", "dir\\b.md": b"B"})
    data = data.replace(b"gr_____.md", "größe.md".encode())
    got, errors = read(data)
    assert got == {"in/kb.zip/dir/b.md": b"B", "in/kb.zip/größe.md": b"A"}
    assert not errors


@pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")
def test_of_one_name_the_last_is_read() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.md", b"old")
        archive.writestr("a.md", b"new")
    got, errors = read(out.getvalue())
    assert got == {"in/kb.zip/a.md": b"new"}
    assert "a later member has the same name" in errors[0]


def test_links_are_left_out() -> None:
    info = zipfile.ZipInfo("link.md")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(info, "/etc/passwd")
    assert read(out.getvalue()) == ({}, [])


def test_a_lie_about_the_size_is_found() -> None:
    data = zipped({"a.txt": random.Random(1).randbytes(1000).hex().encode()})
    for where in (data.find(b"PK\x01\x02") + 24, 22):
        lie = bytearray(data)
        struct.pack_into("<I", lie, where, 10)
        got, errors = read(bytes(lie))
        assert got in ({}, {"in/kb.zip/a.txt": random.Random(1).randbytes(1000).hex().encode()})
        assert bool(errors) != bool(got)


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damage_is_a_load_error_and_the_rest_goes_on(method: int) -> None:
    dice = random.Random(3)
    members = {f"{i}.txt": dice.randbytes(200).hex().encode() for i in range(4)}
    data = zipped({**members, "in.zip": zipped(members, method)}, method)
    whole = {f"in/kb.zip/{name}": text for name, text in members.items()}
    whole |= {f"in/kb.zip/in.zip/{name}": text for name, text in members.items()}
    assert read(data) == (whole, [])
    partly = 0
    for turn in range(400):
        hurt = bytearray(data)
        for _ in range(dice.randint(1, 4)):
            hurt[dice.randrange(len(hurt))] = dice.randrange(256)
        if turn % 4 == 0:
            del hurt[dice.randrange(len(hurt)) :]
        try:
            got, errors = read(bytes(hurt))
        except LoadError as error:
            assert str(error).startswith("in/kb.zip: it is ")
            continue
        partly += bool(got and errors)
        # What is read is right: a checksum stands for every member.
        assert set(got.values()) <= set(members.values())
        for name, text in got.items():
            assert whole.get(name, text) == text
    assert partly > 50


def test_an_archive_without_its_end_is_not_taken_for_the_one_inside_it() -> None:
    inner = zipped({"in.md": b"# In"})
    data = zipped({"a.md": b"# A", "n.zip": inner}, zipfile.ZIP_STORED)
    assert len(read(data)[0]) == 2
    with pytest.raises(LoadError, match="it is cut off"):
        read(data[:-30])
