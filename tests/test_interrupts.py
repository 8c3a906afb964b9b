import signal
import threading

import pytest

from mcquack.interrupts import interrupts_noted


def press_ctrl_c():
    signal.raise_signal(signal.SIGINT)


def test_the_first_ctrl_c_is_noted_and_the_second_raises():
    calls = []
    with interrupts_noted(lambda: calls.append(1)) as noted:
        press_ctrl_c()
        assert noted == [signal.SIGINT]
        assert calls == [1]
        with pytest.raises(KeyboardInterrupt):
            press_ctrl_c()
    assert calls == [1]
    with pytest.raises(KeyboardInterrupt):
        press_ctrl_c()


def test_a_handler_of_the_host_stays():
    calls = []
    before = signal.signal(signal.SIGINT, lambda *_: calls.append("host"))
    try:
        with interrupts_noted(lambda: calls.append("ours")) as noted:
            press_ctrl_c()
        assert calls == ["host"]
        assert not noted
    finally:
        signal.signal(signal.SIGINT, before)


def test_outside_the_main_thread_nothing_is_handled():
    entered = []

    def enter():
        with interrupts_noted():
            entered.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert entered == [signal.default_int_handler]
