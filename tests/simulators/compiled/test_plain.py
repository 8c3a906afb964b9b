"""Fits have the same bits whether inner functions are compiled quickly or by plain Numba."""

import os
import subprocess
import sys

import pytest

from mcquack.simulators.compiled.inner import INNER, IS_QUICK, accepted

FITS = """
import hashlib
import numpy as np
from mcquack import McQuackClassifier
from mcquack.models import catalog
from mcquack.simulators.compiled.inner import IS_QUICK

generator = np.random.default_rng(0)
X, y = generator.random((60, 5)), np.arange(60) % 3
for model in (McQuackClassifier(epochs=2, random_state=0), catalog.entry("vc").new(epochs=2, random_state=0)):
    shares = model.fit(X, y).predict_proba(X)
    print(IS_QUICK, hashlib.sha256(shares.tobytes()).hexdigest(), shares[0])
"""


def fits(**environment: str) -> list[list[str]]:
    """Whether the process compiles quickly, and the bits that it predicts."""
    given = {name: value for name, value in os.environ.items() if name != "MCQUACK_PLAIN_NUMBA"} | environment
    run = subprocess.run([sys.executable, "-c", FITS], env=given, capture_output=True, text=True, check=True)
    return [line.split(maxsplit=1) for line in run.stdout.splitlines()]


@pytest.mark.skipif(IS_QUICK, reason="make plain compares them, where plain code is compiled anyway")
def test_fits_have_the_same_bits_both_ways() -> None:
    quick, plain = fits(), fits(MCQUACK_PLAIN_NUMBA="1")
    assert {is_quick for is_quick, _ in plain} == {"False"}
    assert [bits for _, bits in quick] == [bits for _, bits in plain]


def test_the_environment_switches_the_quick_way_off() -> None:
    assert ("pipeline_class" in INNER) == IS_QUICK
    assert not IS_QUICK or os.environ.get("MCQUACK_PLAIN_NUMBA") != "1"


PROBE = """
import numba
{change}
from mcquack.simulators.compiled.inner import INNER, IS_QUICK, inner
from mcquack.kernels.losses import alignment_slopes
import numpy as np
print(IS_QUICK, abs(alignment_slopes(np.eye(3), np.arange(3), np.ones(3))[0] - 3**-0.5) < 1e-9, INNER["_nrt"])
"""


@pytest.mark.parametrize(
    "change",
    [
        "numba.__version__ = '0.99.0'",
        "numba.__version__ = '1.0.0rc1'",
        "from numba.core import typed_passes; del typed_passes.NativeLowering",
        "from numba.core import codegen; del codegen.JITCodeLibrary",
    ],
)
def test_another_numba_compiles_in_the_plain_way(change: str, tmp_path: os.PathLike[str]) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", PROBE.format(change=change)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "True", "False"]


def test_options_that_numba_does_not_have_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba.__version__", "0.99.0")
    assert accepted({"nogil": True, "_nrt": False, "no_such_option": 1}) == {"nogil": True, "_nrt": False}
