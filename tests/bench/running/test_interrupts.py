import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from mcquack.bench.executors.executor import Interrupts, ctrl_c_kept_from_new_processes
from mcquack.bench.store import Store
from tests.bench.running.evaluations import LOG, SECONDS
from tests.bench.running.processes import is_alive, until

HOME = Path(__file__).parents[3]


def press_ctrl_c():
    signal.raise_signal(signal.SIGINT)


def test_the_first_ctrl_c_is_noted_and_the_second_raises():
    calls = []
    with Interrupts(lambda: calls.append(1)) as interrupts:
        press_ctrl_c()
        assert interrupts.noted
        assert calls == [1]
        with pytest.raises(KeyboardInterrupt):
            press_ctrl_c()
    assert calls == [1]
    with pytest.raises(KeyboardInterrupt):
        press_ctrl_c()


def test_a_handler_of_the_host_stays(monkeypatch):
    calls = []
    before = signal.signal(signal.SIGINT, lambda *_: calls.append("host"))
    try:
        with Interrupts(lambda: calls.append("ours")) as interrupts:
            press_ctrl_c()
        assert calls == ["host"]
        assert not interrupts.noted
    finally:
        signal.signal(signal.SIGINT, before)


def test_outside_the_main_thread_nothing_is_handled():
    entered = []

    def enter():
        with Interrupts(lambda: None):
            entered.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert entered == [signal.default_int_handler]


def test_a_new_process_can_be_kept_from_ctrl_c():
    program = "import signal; signal.raise_signal(signal.SIGINT); print('alive')"
    with ctrl_c_kept_from_new_processes():
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "alive\n"
    with pytest.raises(KeyboardInterrupt):
        press_ctrl_c()


class RunInTerminal:
    """A run whose processes all get Ctrl-C, as they do in a terminal."""

    def __init__(self, folder, *, seconds, on="processes"):
        self.folder = folder
        for name in ("log.txt", "acknowledged.txt"):
            (folder / name).touch()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.bench.running.runner_process", str(folder), on],
            cwd=HOME,
            env={**os.environ, LOG: str(folder / "log.txt"), SECONDS: str(seconds)},
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def press_ctrl_c(self):
        os.killpg(self._process.pid, signal.SIGINT)

    def end(self):
        """Exit code and what was printed."""
        _, printed = self._process.communicate(timeout=120)
        return self._process.returncode, printed

    @property
    def begun(self):
        return [tuple(line.split()) for line in (self.folder / "log.txt").read_text().splitlines()]

    @property
    def acknowledged(self):
        return self._told - {"started", "stopping"}

    @property
    def is_started(self):
        return "started" in self._told

    @property
    def is_stopping(self):
        return "stopping" in self._told

    @property
    def _told(self):
        return set((self.folder / "acknowledged.txt").read_text().splitlines())

    @property
    def stored(self):
        with Store.open(self.folder / "rows.sqlite") as store:
            return store.finished_ids()


@pytest.mark.parametrize("on", ["processes", "dask"])
def test_ctrl_c_ends_a_run_with_all_that_was_begun(tmp_path, on):
    running = RunInTerminal(tmp_path, on=on, seconds=0.2)
    until(lambda: len(running.acknowledged) >= 3)
    running.press_ctrl_c()
    assert running.end() == (130, "")
    assert running.is_stopping
    assert running.stored == {task for _, task in running.begun} == running.acknowledged
    until(lambda: not any(is_alive(worker) for worker, _ in running.begun))


def test_ctrl_c_while_workers_start_ends_a_run_quietly(tmp_path):
    running = RunInTerminal(tmp_path, seconds=0.2)
    until(lambda: running.is_started)
    running.press_ctrl_c()
    assert running.end() == (130, "")
    assert running.stored == {task for _, task in running.begun} == running.acknowledged


def test_a_second_ctrl_c_stops_at_once(tmp_path):
    running = RunInTerminal(tmp_path, seconds=600)
    until(lambda: len(running.begun) == 2)
    running.press_ctrl_c()
    until(lambda: running.is_stopping)
    running.press_ctrl_c()
    assert running.end() == (130, "")
    assert running.stored == set()
    until(lambda: not any(is_alive(worker) for worker, _ in running.begun))
