"""How much memory there is, as the system tells it; and a refusal in time."""

import os
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mcquack.errors import McQuackError, MemoryLimitError
from mcquack.simulators.compiled import memory
from mcquack.simulators.compiled.lanes import row_bytes
from mcquack.simulators.compiled.memory import aligned, aligned_parts, aligned_zeros, available_bytes, require_bytes

MIB = 2**20
MEMINFO = "MemTotal:       16000 kB\nMemFree:         1000 kB\nMemAvailable:    4096 kB\nBuffers:  1 kB\n"


def with_meminfo(system: Path, text: str = MEMINFO) -> Path:
    (system / "proc").mkdir()
    (system / "proc" / "meminfo").write_text(text)
    return system


def with_group(system: Path, limit: str, used: str) -> Path:
    group = system / "sys" / "fs" / "cgroup"
    group.mkdir(parents=True)
    (group / "memory.max").write_text(limit)
    (group / "memory.current").write_text(used)
    return system


def physical_bytes() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize(
    ("shape", "dtype"), [((3, 16), np.float32), ((0, 5), np.float64), ((2, 3, 4), np.float64), ((1,), np.int64)]
)
def test_aligned_zeros_start_on_a_row(shape: tuple[int, ...], dtype: type) -> None:
    array = aligned_zeros(shape, dtype)
    assert array.shape == shape
    assert array.dtype == dtype
    assert array.ctypes.data % row_bytes() == 0 or array.size == 0
    assert array.flags.c_contiguous
    assert array.flags.writeable
    assert not array.any()


def test_aligned_arrays_are_taken_as_they_are() -> None:
    array = aligned_zeros((3, 8), np.float64)
    assert aligned(array) is array


@pytest.mark.parametrize("shift", [8, 32])
def test_others_are_copied_to_where_registers_can_load_them(shift: int) -> None:
    numbers = np.arange(20.0).view(np.uint8)
    astray = aligned_zeros((160 + row_bytes(),), np.uint8)[shift : shift + 160]
    astray[:] = numbers
    copy = aligned(astray.view(np.float64))
    assert copy.ctypes.data % row_bytes() == 0
    assert_array_equal(copy, np.arange(20.0))
    transposed = aligned(copy.reshape(4, 5).T)
    assert transposed.flags.c_contiguous
    assert_array_equal(transposed, np.arange(20.0).reshape(4, 5).T)


def test_the_kernel_tells_what_is_available(tmp_path: Path) -> None:
    assert available_bytes(with_meminfo(tmp_path)) == 4 * MIB


@pytest.mark.parametrize(
    ("limit", "used", "expected"),
    [
        (f"{3 * MIB}\n", f"{MIB}\n", 2 * MIB),  # the container is the narrower
        (f"{100 * MIB}\n", f"{MIB}\n", 4 * MIB),  # the machine is
        ("max\n", f"{MIB}\n", 4 * MIB),
        (f"{MIB}\n", f"{2 * MIB}\n", 0),
    ],
)
def test_a_container_may_allow_less(tmp_path: Path, limit: str, used: str, expected: int) -> None:
    assert available_bytes(with_group(with_meminfo(tmp_path), limit, used)) == expected


def test_a_container_alone_is_enough(tmp_path: Path) -> None:
    assert available_bytes(with_group(tmp_path, f"{3 * MIB}", f"{MIB}")) == 2 * MIB


@pytest.mark.parametrize("text", ["", "nonsense", "MemAvailable:", "MemAvailable: much kB", "MemFree: 5 kB\n"])
@pytest.mark.skipif(not hasattr(os, "sysconf"), reason="this system has no sysconf")
def test_unreadable_answers_leave_the_physical_memory(tmp_path: Path, text: str) -> None:
    with_group(with_meminfo(tmp_path, text), "soon", "never")
    assert available_bytes(tmp_path) == physical_bytes()


def test_a_silent_system_sets_no_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sysconf", raising=False)
    assert available_bytes(tmp_path) is None
    monkeypatch.setattr(memory, "available_bytes", lambda: None)
    require_bytes(2**80, "anything")


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_parts_of_one_allocation_are_apart_and_start_on_a_row(dtype: type) -> None:
    shapes = [(3, 16), (1,), (2, 5, 3), (0, 4), (7,)]
    parts = aligned_parts(shapes, dtype)
    assert [part.shape for part in parts] == shapes
    for number, part in enumerate(parts):
        assert part.ctypes.data % row_bytes() == 0
        assert part.flags.c_contiguous
        assert not part.any()
        part[...] = number + 1
    for number, part in enumerate(parts):
        assert (part == number + 1).all()


def test_the_system_is_not_asked_about_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def available() -> int:
        asked.append(1)
        return 2**30

    monkeypatch.setattr(memory, "available_bytes", available)
    require_bytes(1000, "little")
    assert asked == []
    require_bytes(MIB, "more")
    assert asked == [1]


def test_this_machine_has_some_memory() -> None:
    free = available_bytes()
    assert free is None or 0 < free <= 2**50


def test_what_does_not_fit_is_refused_with_both_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 2**30)
    require_bytes(2**30, "a good fit")
    with pytest.raises(MemoryLimitError, match=r"a giant needs 4\.0 GiB but 1\.0 GiB are free; use fewer") as refusal:
        require_bytes(2**32, "a giant")
    assert isinstance(refusal.value, MemoryError)
    assert isinstance(refusal.value, McQuackError)


def test_files_that_may_be_forgotten_do_not_count_as_used(tmp_path: Path) -> None:
    with_group(tmp_path, f"{3 * MIB}", f"{2 * MIB}")
    (tmp_path / "sys/fs/cgroup/memory.stat").write_text(f"anon 5\ninactive_file {MIB}\nfile 7\n")
    assert available_bytes(tmp_path) == 2 * MIB
