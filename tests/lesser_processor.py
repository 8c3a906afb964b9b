"""Runs a command as a processor with narrower registers would: ``python -m tests.lesser_processor pytest``.

OpenBLAS, NumPy and Numba each choose code by what the processor can do, and each lets the environment choose for it.
Where there is AVX-512 they are told to do without, elsewhere to use what every processor of this kind has.
"""

import os
import sys

import numpy as np
from llvmlite import binding


def lesser_environment() -> dict[str, str]:
    """Variables that make the numerical libraries forget the widest registers of this processor."""
    features = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    if binding.get_host_cpu_features().get("avx512f"):
        blas, compiled_for = "Haswell", "haswell"
        features = [name for name in features if name.startswith(("AVX512", "X86_V4"))]
    else:
        blas, compiled_for = "Nehalem", "generic"
    chosen = {"NPY_DISABLE_CPU_FEATURES": " ".join(features), "OPENBLAS_CORETYPE": blas}
    # Compiled code that is kept on disk has both of these in its key.
    return chosen | {"NUMBA_CPU_NAME": compiled_for, "NUMBA_CPU_FEATURES": ""}


if __name__ == "__main__":
    settings = lesser_environment()
    print(*(f"{name}={value!r}" for name, value in settings.items()), flush=True)  # noqa: T201
    os.execvpe(sys.argv[1], sys.argv[1:], os.environ | settings)
