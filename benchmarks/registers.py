"""A run on narrower registers, ours, sgemm and peers alike: a lesser processor measured on a better one."""

import os
import sys

from benchmarks.machine import vector_width
from tests.lesser_processor import lesser_environment

# How the peers are told what lesser_environment tells OpenBLAS, NumPy and Numba.
PEERS_WITHOUT_AVX512 = {
    "ATEN_CPU_CAPABILITY": "avx2",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "XLA_FLAGS": "--xla_cpu_max_isa=AVX2",
}


def restart_without_avx512() -> None:
    """Starts the command anew, as libraries choose their code when they are loaded; returns if it already is so."""
    if vector_width() == "AVX-512":
        os.execve(sys.executable, sys.orig_argv, {**os.environ, **lesser_environment(), **PEERS_WITHOUT_AVX512})
