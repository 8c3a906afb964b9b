"""Code that was compiled from other sources, or for other types, than those at hand must not run."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import mcquack

PROBE = """
import sys
sys.path.insert(0, {source!r})
import numpy as np
from mcquack.kernels.losses import alignment_slopes
A = alignment_slopes(np.eye(3, dtype={dtype!r}), np.arange(3), np.ones(3))[0]
assert abs(A - 3**-0.5) < 1e-6, A
print(bool(alignment_slopes.stats.cache_hits))
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


def test_kept_code_is_used_until_any_source_of_it_changes(tmp_path: Path) -> None:
    source, cache = tmp_path / "src", tmp_path / "cache"
    shutil.copytree(Path(mcquack.__file__).parent, source / "mcquack", ignore=shutil.ignore_patterns("__pycache__"))
    assert not was_kept(started(source, cache))
    assert was_kept(started(source, cache))
    for sources, is_kept in (
        ("training/epoch.py", True),
        ("models/base.py", True),
        ("checks.py", False),
        ("kernels/losses.py", False),
    ):
        with (source / "mcquack" / sources).open("a") as changed:
            changed.write("# another thought\n")
        assert was_kept(started(source, cache)) == is_kept, sources


def test_processes_that_compile_at_once_do_not_mix_up_their_types(tmp_path: Path) -> None:
    source = Path(mcquack.__file__).parents[1]
    types = ("float32", "float64")
    for process in [started(source, tmp_path, dtype) for dtype in types]:
        assert not was_kept(process)
    for dtype in types:
        assert was_kept(started(source, tmp_path, dtype))
