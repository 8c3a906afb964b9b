"""Files are replaced whole, never readable by more than before, and nothing stays behind; only files are read."""

import errno
import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mcquack import files
from mcquack.errors import InvalidInputError
from mcquack.files import check_regular, regular_file, replace_file

DYING = """
import os, sys
from pathlib import Path
from mcquack.files import replace_file
os.fsync = lambda _: os._exit(3)
replace_file(Path(sys.argv[1]), b"never seen")
"""
WAITING = """
import os, sys
from pathlib import Path
from mcquack.files import replace_file

def wait(_):
    print("writing", flush=True)
    sys.stdin.read()

os.fsync = wait
replace_file(Path(sys.argv[1]), b"of a slow writer")
"""


def leftovers(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name.startswith(".mcquack-"))


def test_what_a_killed_save_left_is_removed_by_the_next(tmp_path: Path) -> None:
    for _ in range(2):
        assert subprocess.run([sys.executable, "-c", DYING, tmp_path / "a"], check=False).returncode == 3
        assert len(leftovers(tmp_path)) == 1  # the second has swept up after the first
    replace_file(tmp_path / "a", b"seen")
    assert leftovers(tmp_path) == []
    assert (tmp_path / "a").read_bytes() == b"seen"


def test_what_somebody_is_writing_now_is_left_alone(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WAITING, str(tmp_path / "slow")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as slow:
        assert slow.stdout is not None
        slow.stdout.readline()
        (written,) = leftovers(tmp_path)
        ages_ago = time.time() - 10 * files._ABANDONED_AFTER
        os.utime(tmp_path / written, (ages_ago, ages_ago))
        replace_file(tmp_path / "quick", b"of a quick writer")
        assert leftovers(tmp_path) == [written]
        slow.communicate("")
    assert slow.returncode == 0
    assert (tmp_path / "slow").read_bytes() == b"of a slow writer"
    assert leftovers(tmp_path) == []


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    names = {
        ".mcquack-save-0123456789abcdef.tmp.txt",
        ".mcquack-save-xyz.tmp",
        "mcquack-save-0123456789abcdef.tmp",
        ".mcquack-fedcba9876543210.tmp",  # of version 0.1, which locks nothing: one that is young may be in use
    }
    for name in names:
        (tmp_path / name).touch()
    os.mkfifo(tmp_path / ".mcquack-save-0123456789abcdef.tmp")
    (tmp_path / "target").write_text("of somebody else")
    (tmp_path / ".mcquack-save-1123456789abcdef.tmp").symlink_to("target")
    replace_file(tmp_path / "a", b"")
    kept = names | {"a", "target", ".mcquack-save-0123456789abcdef.tmp", ".mcquack-save-1123456789abcdef.tmp"}
    assert {path.name for path in tmp_path.iterdir()} == kept
    ages_ago = time.time() - 2 * files._ABANDONED_AFTER
    os.utime(tmp_path / ".mcquack-fedcba9876543210.tmp", (ages_ago, ages_ago))
    replace_file(tmp_path / "a", b"")
    assert {path.name for path in tmp_path.iterdir()} == kept - {".mcquack-fedcba9876543210.tmp"}


def test_writers_at_once_do_not_sweep_each_other_away(tmp_path: Path) -> None:
    faults: list[BaseException] = []

    def write(name: str) -> None:
        try:
            for number in range(100):
                replace_file(tmp_path / name, f"{name}{number}".encode())
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=write, args=(name,)) for name in "abba"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_without_locks_only_old_leftovers_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "fcntl", None)
    left = tmp_path / ".mcquack-save-0123456789abcdef.tmp"
    left.touch()
    replace_file(tmp_path / "a", b"content")
    assert left.exists()
    ages_ago = time.time() - 2 * files._ABANDONED_AFTER
    os.utime(left, (ages_ago, ages_ago))
    replace_file(tmp_path / "a", b"content")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o400, 0o666])
def test_nobody_may_read_a_file_who_might_not_before(
    mode: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "secret"
    path.write_bytes(b"old")
    path.chmod(mode)
    seen: list[int] = []

    def watched(step: Callable[..., object]) -> Callable[..., object]:
        def run(*given: object) -> object:
            before, done, after = modes(), step(*given), modes()
            seen.extend(before + after)
            return done

        return run

    def modes() -> list[int]:
        return [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in leftovers(tmp_path)]

    monkeypatch.setattr(Path, "chmod", watched(Path.chmod))
    monkeypatch.setattr(os, "fsync", watched(os.fsync))
    monkeypatch.setattr(os, "replace", watched(os.replace))
    replace_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert len(seen) >= 4
    assert all(each & 0o077 & ~mode == 0 for each in seen)


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_is_for_those_whom_the_mask_allows(mask: int, mode: int, tmp_path: Path) -> None:
    before = os.umask(mask)
    try:
        replace_file(tmp_path / "new", b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == mode


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_errors_name_the_file_that_was_wanted(step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*places: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", *([places[0], None, places[1]] if places[1:] else []))

    monkeypatch.setattr(os, step, full)
    with pytest.raises(OSError, match=f"on device: '{tmp_path / 'a'}'$"):
        replace_file(tmp_path / "a", b"")
    assert list(tmp_path.iterdir()) == []


# Reading


def test_a_regular_file_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"four")
    (tmp_path / "link").symlink_to("a")
    for place in (path, tmp_path / "link"):
        with regular_file(place, what="a word") as stream:
            assert stream.read() == b"four"
        assert check_regular(place, what="a word") == 4
    for asked in (regular_file, check_regular):
        with pytest.raises(FileNotFoundError):
            asked(tmp_path / "missing", what="a word")


def test_folders_pipes_and_devices_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path, tmp_path / "pipe", Path("/dev/zero"), Path("/dev/null")):
        for asked in (regular_file, check_regular):
            with pytest.raises(InvalidInputError, match=r"(folder|pipe|device), .* a table"):
                asked(place, what="a table")


def test_a_pipe_that_comes_between_look_and_use_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr(files, "check_regular", lambda *_, **__: 0)
    with pytest.raises(InvalidInputError, match="is a pipe"):
        regular_file(tmp_path / "pipe", what="a table")
