"""Runs a command as a processor with narrower registers would: ``python -m tests.lesser_processor pytest``.

OpenBLAS, NumPy and Numba each choose code by what the processor can do, and each lets the environment choose for it.
Where there is AVX-512 they are told to do without. Elsewhere OpenBLAS and NumPy do without AVX2 too, but code of Numba
keeps it, as each of its many fused products would become the call of a function.
"""

import os
import sys

import numpy as np
from llvmlite import binding


def lesser_environment() -> dict[str, str]:
    """Variables that make the numerical libraries forget the widest registers of this processor."""
    host = binding.get_host_cpu_features()
    features = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    if host.get("avx512f"):
        features = [name for name in features if name.startswith(("AVX512", "X86_V4"))]
    chosen = {"NPY_DISABLE_CPU_FEATURES": " ".join(features)}
    if host.get("sse2"):
        chosen |= {"OPENBLAS_CORETYPE": "Haswell" if host.get("avx512f") else "Nehalem"}
    # Numba keeps to the features of the machine unless both are set. Compiled code on disk has both in its key.
    compiled_for = "haswell" if host.get("avx2") else "generic"
    return chosen | {"NUMBA_CPU_NAME": compiled_for, "NUMBA_CPU_FEATURES": ""}


if __name__ == "__main__":
    settings = lesser_environment()
    print(*(f"{name}={value!r}" for name, value in settings.items()), flush=True)  # noqa: T201
    os.execvpe(sys.argv[1], sys.argv[1:], os.environ | settings)
