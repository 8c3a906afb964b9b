import numpy as np

from mcquack import load
from mcquack.cli.hardware_device import asked_circuits
from mcquack.kernels import measured as sampled
from mcquack.simulators.samplers import SimulatedSampler

X = np.array([[index / 2, index % 2] for index in range(7)])


class Listener(SimulatedSampler):
    def __init__(self):
        super().__init__()
        self.heard = []

    def hamming_counts(self, circuits, *, shots):
        self.heard.append(circuits.digest)
        return super().hamming_counts(circuits, shots=shots)


def test_what_is_asked_is_known_call_by_call(model, monkeypatch):
    monkeypatch.setattr(sampled, "_ANGLES_AT_ONCE", 3 * 2 * 12)  # three rows with two centroids at a time
    classifier = load(model)
    asked = asked_circuits(classifier, X, shots=5, calibrating=True)
    assert [circuits.shape for circuits in asked] == [(2, 2), (3, 2), (3, 2), (1, 2)]
    assert (classifier.engine, classifier.shots) == ("auto", None)
    listener = Listener()
    classifier.set_params(engine=listener, shots=5).predict(X)
    assert listener.heard == [circuits.digest for circuits in asked[1:]]


def test_no_rows_ask_for_nothing_but_calibration(model):
    assert asked_circuits(load(model), X[:0], shots=5, calibrating=False) == []
    assert len(asked_circuits(load(model), X[:0], shots=5, calibrating=True)) == 1
