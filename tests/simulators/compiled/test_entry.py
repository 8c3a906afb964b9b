"""Code that was compiled from other sources, or for other types, than those at hand must not run.

Where code is kept may be damaged, full, read-only or missing: nobody computes anything else for it, or nothing.
"""

import errno
import gc
import hashlib
import importlib.util
import os
import pickle
import random
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba.core.errors import TypingError

import mcquack
from mcquack.errors import CompiledCodeWarning
from mcquack.simulators.compiled import entry as entries

PROBE = """
import sys
sys.path.insert(0, {source!r})
import numpy as np
from mcquack.kernels.losses import alignment_slopes
A = alignment_slopes(np.eye(3, dtype={dtype!r}), np.arange(3), np.ones(3))[0]
assert abs(A - 3**-0.5) < 1e-6, A
print(alignment_slopes.entry.n_loaded > 0)
"""


def started(source: Path, cache: Path, dtype: str = "float64") -> subprocess.Popen[str]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", PROBE.format(source=str(source), dtype=dtype)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def was_kept(process: subprocess.Popen[str]) -> bool:
    """Whether the process found its code in the cache."""
    answer, _ = process.communicate()
    assert process.returncode == 0
    return answer.strip() == "True"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A copy of the sources beside which no code is kept yet."""
    package = tmp_path / "src" / "mcquack"
    shutil.copytree(Path(mcquack.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    return package.parent


def test_kept_code_is_used_until_any_source_of_it_changes(source: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert not was_kept(started(source, cache))
    assert was_kept(started(source, cache))
    for sources, is_kept in (
        ("training/step.py", True),
        ("models/base.py", True),
        ("checks.py", False),
        ("kernels/losses.py", False),
    ):
        with (source / "mcquack" / sources).open("a") as changed:
            changed.write("# another thought\n")
        assert was_kept(started(source, cache)) == is_kept, sources


def test_processes_that_compile_at_once_do_not_mix_up_their_types(source: Path, tmp_path: Path) -> None:
    types, cache = ("float32", "float64"), tmp_path / "cache"
    for process in [started(source, cache, dtype) for dtype in types]:
        assert not was_kept(process)
    for dtype in types:
        assert was_kept(started(source, cache, dtype))


# A small entry stands for the large ones, which take a minute to compile.

SMALL = """
from mcquack.simulators.compiled.entry import entry

@entry
def total(values):
    found = 0.0
    for value in values:
        found += value
    return found
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder where Numba is told to keep code."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "code"))
    monkeypatch.setattr(entries, "said", set())
    return tmp_path / "code"


def fresh_total(folder: Path) -> Any:
    """The small entry as a new process would find it: nothing is compiled yet."""
    file = folder / "small.py"
    file.write_text(SMALL)
    spec = importlib.util.spec_from_file_location("small", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.total


def was_found(folder: Path) -> bool:
    """Computes with the small entry, and tells whether its code was kept."""
    total = fresh_total(folder)
    assert total(np.arange(4.0)) == 6
    return bool(total.n_loaded)


@pytest.mark.parametrize("collects", [True, False])
def test_garbage_is_collected_after_compiling_as_it_was_before(cache: Path, tmp_path: Path, collects: bool) -> None:
    was_on = gc.isenabled()
    try:
        (gc.enable if collects else gc.disable)()
        assert fresh_total(tmp_path)(np.ones(3)) == 3
        assert gc.isenabled() == collects
    finally:
        (gc.enable if was_on else gc.disable)()


def test_an_entry_that_borrows_arrays_makes_none(cache: Path) -> None:
    with pytest.raises(TypingError):
        entries.borrowing_entry(lambda length: np.zeros(length))(3)


def kept_files(cache: Path) -> list[Path]:
    return [path for path in cache.rglob("*") if path.is_file()]


def flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "cut": lambda content: content[:-1],
    "cut short": lambda content: content[:40],
    "longer": lambda content: content + b"\0",
    "zeros": lambda content: bytes(len(content)),
    "noise": lambda content: random.Random(0).randbytes(len(content)),
    "a flipped bit": flipped,
    "without its checksum": lambda content: content[32:],
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_code_is_compiled_anew_and_replaced(damage: str, tmp_path: Path, cache: Path) -> None:
    assert not was_found(tmp_path)
    assert was_found(tmp_path)
    (kept,) = kept_files(cache)
    kept.write_bytes(DAMAGES[damage](kept.read_bytes()))
    assert not was_found(tmp_path)
    assert was_found(tmp_path)
    assert kept_files(cache) == [kept]


def test_code_that_numba_cannot_read_is_compiled_anew_and_replaced(tmp_path: Path, cache: Path) -> None:
    assert not was_found(tmp_path)
    (kept,) = kept_files(cache)
    files = pickle.loads(kept.read_bytes()[32:])
    for name in files:
        content = pickle.dumps({**files, name: b"another format"})
        kept.write_bytes(hashlib.sha256(content).digest() + content)
        assert not was_found(tmp_path)
        assert was_found(tmp_path)


def test_a_version_is_compiled_for_each_type_and_found_again(tmp_path: Path, cache: Path) -> None:
    total, read_only = fresh_total(tmp_path), np.arange(4.0)
    read_only.flags.writeable = False
    several = [np.arange(4.0), np.arange(4), np.arange(8.0)[::2], read_only, np.arange(4, dtype=np.float32)]
    assert [total(values) for values in several] == [6, 6, 12, 6, 6]
    assert len(set(total.signatures)) == len(total.signatures) == len(kept_files(cache)) == len(several)
    assert [total(values) for values in several] == [6, 6, 12, 6, 6]
    assert total(np.arange(5.0)) == 10
    assert len(total.signatures) == len(several)


@pytest.fixture
def _full_disk() -> Iterator[None]:
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.usefixtures("_full_disk")
def test_a_full_disk_stops_no_computation_and_leaves_no_files(tmp_path: Path, cache: Path) -> None:
    with pytest.warns(CompiledCodeWarning, match="File too large") as told:
        assert not was_found(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not was_found(tmp_path)  # and told once only
    assert len(told) == 1
    assert kept_files(cache) == []


def test_where_one_folder_refuses_the_next_keeps_the_code(tmp_path: Path, cache: Path) -> None:
    cache.write_text("a file is where the folder should be")
    assert not was_found(tmp_path)
    assert was_found(tmp_path)
    assert fresh_total(tmp_path).folder is None
    assert list((tmp_path / "__pycache__").glob("small.total-*"))


def test_code_from_another_folder_is_kept_in_the_one_that_is_named(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as unnamed:
        unnamed.setattr(numba.config, "CACHE_DIR", "")
        assert not was_found(tmp_path)
    assert kept_files(cache) == []
    assert was_found(tmp_path)
    assert len(kept_files(cache)) == 1


def test_where_every_folder_refuses_code_is_compiled_in_memory(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_space(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(entries, "replace_file", no_space)
    with pytest.warns(CompiledCodeWarning, match=r"No space left.*NUMBA_CACHE_DIR"):
        assert not was_found(tmp_path)


def test_without_a_temporary_folder_code_is_compiled_in_memory(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with pytest.warns(CompiledCodeWarning, match="TMPDIR"):
        assert not was_found(tmp_path)


def test_a_function_without_a_file_is_compiled_in_memory(cache: Path) -> None:
    program: dict[str, Any] = {}
    exec("def twice(number):\n    return 2 * number", program)
    assert entries.entry(program["twice"])(3) == 6
    assert kept_files(cache) == []


def environment_without_folders(folder: Path) -> dict[str, str]:
    """Of a process that may write code nowhere, whoever it is: all its folders are below files."""
    (folder / "__pycache__").write_text("a file")
    given = {name: value for name, value in os.environ.items() if name not in ("XDG_CACHE_HOME", "NUMBA_CACHE_DIR")}
    return {**given, "HOME": "/dev/null", "PYTHONPATH": str(Path(mcquack.__file__).parents[1])}


def test_without_any_folder_code_is_compiled_in_memory_and_that_is_told_once(tmp_path: Path) -> None:
    again = SMALL.replace("total", "again")
    program = (
        f"{SMALL}{again}import numpy as np\nprint(total(np.arange(4.0)), total(np.arange(4)), again(np.arange(4)))"
    )
    (tmp_path / "program.py").write_text(program)
    run = subprocess.run(
        [sys.executable, tmp_path / "program.py"],
        env=environment_without_folders(tmp_path),
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.split() == ["6.0"] * 3
    assert run.stderr.count("CompiledCodeWarning: ") == 1
    assert "NUMBA_CACHE_DIR" in run.stderr


def test_code_in_a_folder_that_is_read_only_is_used(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_only(*_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    assert not was_found(tmp_path)
    monkeypatch.setattr(entries, "replace_file", read_only)
    assert was_found(tmp_path)
    total = fresh_total(tmp_path)
    with pytest.warns(CompiledCodeWarning, match="Read-only"):
        assert total(np.arange(4)) == 6


SUITE = """
name = "small"
title = "One task"
datasets = ["iris3"]
models = ["mcquack"]
search = "none"
search_on = "validation"
choose_by = "accuracy"
seeds = 1
data_seed = 0
settings.mcquack = { n_qubits = 2, epochs = 2 }
"""


@pytest.mark.campaign
def test_a_user_without_a_home_and_with_a_read_only_package_can_do_everything() -> None:
    """As in a container: nothing but one folder for results can be written."""
    with tempfile.TemporaryDirectory() as name:
        package, results = Path(name) / "src", Path(name) / "results"
        shutil.copytree(
            Path(mcquack.__file__).parent, package / "mcquack", ignore=shutil.ignore_patterns("__pycache__")
        )
        results.mkdir()
        folders = [package, *(path for path in package.rglob("*") if path.is_dir())]
        for folder in folders:
            folder.chmod(0o555)
        try:
            run_everything(package, results)
        finally:
            for folder in folders:
                folder.chmod(0o755)


def run_everything(package: Path, results: Path) -> None:
    bound = []
    if os.getuid() == 0:  # whom modes do not bind, unless he gives up his powers
        setpriv = shutil.which("setpriv") or pytest.skip("needs setpriv, or a user other than root")
        bound = [setpriv, "--bounding-set=-all", "--inh-caps=-all"]
    unset = ("XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "MCQUACK_CACHE", "MPLCONFIGDIR")
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    environment |= {"HOME": str(package / "nobody"), "PYTHONPATH": str(package), "MCQUACK_OFFLINE": "1"}

    def told(*words: str) -> str:
        command = [*bound, sys.executable, "-P", *words]
        run = subprocess.run(command, env=environment, cwd=results, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
        return run.stderr

    command = ("-m", "mcquack")
    fit = told(*command, "fit", "iris3", "--out", "iris.mcq", "--epochs", "3", "--qubits", "2")
    assert fit.count("NUMBA_CACHE_DIR") == 1
    assert "NUMBA_CACHE_DIR" not in told(*command, "info", "iris.mcq")
    assert "NUMBA_CACHE_DIR" not in told("-c", "import mcquack; mcquack.load('iris.mcq')")
    (results / "small.toml").write_text(SUITE)
    assert "NUMBA_CACHE_DIR" in told(*command, "bench", "run", "small.toml", "--jobs", "1")
