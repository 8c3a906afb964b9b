"""What the numbers were measured on."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from llvmlite import binding
from numba import config

PACKAGES = (
    *("numpy", "numba", "scikit-learn", "torch", "jax", "jaxlib", "optax", "pennylane"),
    *("pennylane-lightning", "pennylane-lightning-kokkos", "tensorcircuit-ng", "qiskit", "qiskit-aer", "quimb"),
    *("qiskit-machine-learning", "squlearn", "qulacs"),
)


def n_cores() -> int:
    """Cores this process may use, which a container can make fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processor() -> str:
    """The name on the chip where Linux tells it, else the architecture."""
    for line in _lines("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def vector_width() -> str:
    """The registers that Numba compiles for; NUMBA_CPU_NAME and NUMBA_CPU_FEATURES may choose narrower ones."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    features = config.CPU_FEATURES
    compiler = binding.Target.from_default_triple().create_target_machine(
        cpu=config.CPU_NAME or binding.get_host_cpu_name(),
        features=binding.get_host_cpu_features().flatten() if features is None else features,
    )
    row = "<16 x float>"
    sums = f"define {row} @sums({row} %a, {row} %b) {{ %c = fadd {row} %a, %b\n ret {row} %c }}"
    code = compiler.emit_assembly(binding.parse_assembly(sums))
    names = {"zmm": "AVX-512", "ymm": "AVX2", "xmm": "SSE"}
    return next((name for register, name in names.items() if register in code), platform.machine())


def memory_gb() -> float | None:
    """Main memory in GB."""
    for line in _lines("/proc/meminfo"):
        if line.startswith("MemTotal"):
            return round(int(line.split()[1]) / 1e6, 1)
    return None


def machine() -> dict[str, str | int | float | None]:
    """One row that describes the machine."""
    return {
        "processor": processor(),
        "vectors": vector_width(),
        "cores": n_cores(),
        "memory_gb": memory_gb(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }


def versions() -> dict[str, str]:
    """Version by package, of those installed."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def description() -> str:
    """Machine and versions in two sentences."""
    about = machine()
    packages = ", ".join(f"{name} {number}" for name, number in versions().items())
    return (
        f"{about['processor']}, {about['vectors']}, {about['cores']} cores, {about['memory_gb']} GB, "
        f"{about['system']}. Python {about['python']}, {packages}."
    )


def _lines(path: str) -> list[str]:
    file = Path(path)
    return file.read_text().splitlines() if file.exists() else []
