import logging

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from mcquack import McQuackClassifier, QuackClassifier, load
from mcquack.cli.hardware_device import OpenDevice as Device
from mcquack.hardware.jobs.service import Limits
from mcquack.hardware.services.account import TOKEN_VARIABLE
from mcquack.hardware.services.runtime import RuntimeService
from mcquack.kernels import SampledEngine, Shots
from mcquack.kernels.losses import target_alignment
from mcquack.progress import shown
from mcquack.simulators.noise import PITTSBURGH
from mcquack.simulators.samplers import NoisySampler, SimulatedSampler
from tests.cli.tables import two_classes
from tests.models.sameness import assert_same_model

BUDGET = 100_000
EPOCH = 12 * 2 * 10 * 7  # circuits of the kernel, shots, and two steps of three kernels and one for the loss
CENTROIDS = 2 * 2 * 10


@pytest.fixture
def train(mcquack, data):
    def run(*options, backend="simulator", budget=4 * EPOCH):
        given = ("--data", data, "--backend", backend, "--budget", budget, "--shots", 10, "--out", "out.mcq")
        return mcquack("hardware", "train", *given, *options)

    return run


NEW = ("--target", "label", "--qubits", 2)


def test_training_on_a_noisy_device_improves_an_untrained_model_within_its_budget(mcquack, table, folder):
    """Judged on this device, by rows that were held out."""
    X, y = make_blobs(124, n_features=8, centers=2, cluster_std=4.5, random_state=3)
    lines = [",".join(map(str, [*row, label])) for row, label in zip(X[:24].tolist(), y[:24].tolist(), strict=True)]
    data = table("\n".join(["a,b,c,d,e,f,g,h,label", *lines]), "points.csv")
    untrained = ("--target", "label", "--qubits", 4, "--repetitions", 1, "--epochs", 0, "--validation", 0)
    assert mcquack("fit", data, *untrained, "--out", "m.mcq").code == 0
    outcome = mcquack(
        *("hardware", "train", "--data", data, "--model", "m.mcq", "--backend", "twin:pittsburgh", "--shots", 50),
        *("--budget", BUDGET, "--batch", 6, "--rate", 0.05, "--out", "trained.mcq"),
    )
    assert outcome.code == 0, outcome.err
    before, after = (
        load(folder / name).set_params(engine=SampledEngine(NoisySampler(PITTSBURGH, seed=1), shots=50))
        for name in ("m.mcq", "trained.mcq")
    )
    assert 0 < after.shots_ <= BUDGET
    alignments = [target_alignment(model.transform(X[24:]), y[24:]) for model in (before, after)]
    assert alignments[1] > alignments[0] + 0.2, alignments
    assert after.score(X[24:], y[24:]) > before.score(X[24:], y[24:]) + 0.1


def test_a_new_model_is_made_for_the_table(train, mcquack, data, folder):
    outcome = train(*NEW, budget=4 * EPOCH + CENTROIDS)
    assert outcome.code == 0, outcome.err
    assert f"takes {CENTROIDS} of the budget first" in outcome.err
    assert "No bit-flip tolerance is needed" in outcome.err
    assert f"An epoch takes {EPOCH:,} shots by spsa; the paper's formula" in outcome.err
    model = load(folder / "out.mcq")
    assert (model.n_iter_, model.shots_) == (4, 4 * EPOCH)
    assert model.warm_start is False  # whoever fits it again begins anew
    assert (model.feature_map_.n_qubits, model.feature_map_.final_entangler) == (2, False)
    assert (model.engine.name, model.engine.gradient, model.engine.shots_per_entry) == ("statevector", "exact", 0)
    assert mcquack("predict", "out.mcq", data).code == 0
    model.fit(*make_blobs(20, n_features=2, centers=2, random_state=0))  # no sampler is needed to begin anew


@pytest.mark.parametrize("method", ["spsa", "stochastic_shift", "parameter_shift"])
def test_every_method_is_told_what_it_takes_before_it_is_begun(train, folder, method):
    outcome = train(*NEW, "--method", method, budget=10)
    assert outcome.code == 1
    assert f"shots by {method.replace('_', ' ')}" in outcome.err
    assert "nothing was sent" in outcome.err
    assert not (folder / "out.mcq").exists()


@pytest.mark.parametrize(
    ("kind", "settings"),
    [(McQuackClassifier, {"n_centroids_per_class": 2}), (QuackClassifier, {"n_repetitions": 3}), (QuackClassifier, {})],
)
def test_a_model_goes_on_with_its_own_circuit(saved, train, mcquack, data, folder, kind, settings):
    path = saved(kind, **settings, engine=Shots(tolerance=1))
    outcome = train("--model", path, "--epochs", 2, budget=10**6)
    assert outcome.code == 0, outcome.err
    before, after = load(path), load(folder / "out.mcq")
    assert type(after) is kind
    assert after.feature_map_ == before.feature_map_
    assert (after.n_iter_, after.engine.tolerance) == (2, 1)
    assert "No bit-flip tolerance" not in outcome.err
    assert mcquack("predict", "out.mcq", data).code == 0
    assert after.extra_ == before.extra_
    assert not np.array_equal(after.weights_, before.weights_)


def test_categories_stay_what_the_model_took_them_for(saved, train, table, folder):
    path = saved()
    table(two_classes().replace("blue", "azure") + "5,blue,high\n", "data.csv")
    outcome = train("--model", path)
    assert outcome.code == 0, outcome.err
    assert "6 rows could not be used" in outcome.err
    assert load(folder / "out.mcq").extra_ == load(path).extra_


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--qubits", 2), 2, "--qubits"),
        (("--target", "colour"), 2, "'label'"),
        (("--tolerance", 3), 1, "more than the 2 qubits"),
    ],
)
def test_a_model_has_its_own_settings(saved, train, options, code, message):
    outcome = train("--model", saved(), *options)
    assert outcome.code == code
    assert message in outcome.err


def test_a_table_needs_a_target_and_a_file_is_not_replaced_by_accident(train, folder):
    assert train("--qubits", 2).code == 2
    (folder / "out.mcq").write_bytes(b"mine")
    assert "--force" in train(*NEW).err
    assert (folder / "out.mcq").read_bytes() == b"mine"


def test_after_a_break_the_same_command_repeats_no_measurement(train, folder, far, monkeypatch):
    budget = 2 * EPOCH + CENTROIDS
    whole = train(*NEW, "--yes", "--store", "whole.sqlite", backend="ibm_rome", budget=budget)
    assert whole.code == 0, whole.err
    expected, n_jobs = load(folder / "out.mcq"), len(far.sent)
    assert "in 13 jobs" in whole.err
    assert n_jobs == 13 - 1  # the second epoch begins with the circuits that the first ended with
    far.sent.clear()

    def interrupted(epochs, **given):
        for count, epoch in enumerate(shown(epochs, **given)):
            if count:
                raise KeyboardInterrupt
            yield epoch

    with monkeypatch.context() as patch:
        patch.setattr("mcquack.cli.hardware.shown", interrupted)
        outcome = train(*NEW, "--yes", "--force", backend="ibm_rome", budget=budget)
    assert outcome.code == 130
    assert "--force" in outcome.err
    outcome = train(*NEW, "--yes", "--force", backend="ibm_rome", budget=budget)
    assert outcome.code == 0, outcome.err
    assert len(far.sent) == n_jobs
    assert_same_model(load(folder / "out.mcq"), expected)


class Never:
    """A device on which no outcome is all zeros; it notes how many of its shots are asked for."""

    def __init__(self):
        self.spent = 0

    def hamming_counts(self, circuits, *, shots):
        self.spent += circuits.shape[0] * circuits.shape[1] * shots
        counts = SimulatedSampler().hamming_counts(circuits, shots=shots)
        counts[..., 1] += counts[..., 0]
        counts[..., 0] = 0
        return counts


def test_shots_are_not_spent_on_kernels_of_zeros(train, folder, monkeypatch):
    sampler = Never()
    monkeypatch.setattr(Device, "sampler", lambda *_: sampler)
    budget = 2 * EPOCH + CENTROIDS
    outcome = train(*NEW, budget=budget)
    assert outcome.code == 0, outcome.err
    assert "as only 0.0% of a centroid's shots with itself are all zeros" in outcome.err
    model = load(folder / "out.mcq")
    assert model.engine.tolerance == 1
    assert sampler.spent == budget


@pytest.mark.parametrize("method", ["spsa", "stochastic_shift", "parameter_shift"])
def test_jobs_are_as_many_as_are_told(train, far, method):
    """But for those of the first kernel of an epoch, which is the last one of the epoch before."""
    outcome = train(*NEW, "--yes", "--method", method, "--batch", 5, "--epochs", 1, backend="ibm_rome", budget=10**6)
    assert outcome.code == 0, outcome.err
    assert f"in {len(far.sent)} jobs" in outcome.err
    assert len(far.sent) == 1 + 3 * (3 + 2) + 1
    told = sum(job.n_circuits for job in far.sent) * 10
    assert f"at most {told:,} executions" in outcome.err


def test_jobs_that_a_service_limits_are_more(train, far, monkeypatch):
    monkeypatch.setattr(RuntimeService, "limits", Limits(executions=10 * 24))
    outcome = train(*NEW, "--yes", "--method", "parameter_shift", "--epochs", 1, backend="ibm_rome", budget=10**6)
    told = int(outcome.err.split(" jobs: ")[0].rpartition(" in ")[2].replace(",", ""))
    assert len(far.sent) <= told <= len(far.sent) + 3 + 2 + 1


def test_jobs_are_sent_in_a_batch_which_every_plan_allows(train, far, monkeypatch):
    modes = set()
    monkeypatch.setattr(RuntimeService, "_mode", lambda self: modes.add(self._setup.options.mode))
    assert train(*NEW, "--yes", "--epochs", 1, backend="ibm_rome").code == 0
    assert modes == {"batch"}


def test_no_token_is_told_logged_or_kept(train, far, folder, caplog, monkeypatch):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv(TOKEN_VARIABLE, far.token)
    outcome = train(*NEW, "--yes", "--epochs", 1, backend="ibm_rome")
    assert outcome.code == 0, outcome.err
    told = [outcome.out, outcome.err, *(record.getMessage() for record in caplog.records)]
    assert not any(far.token in text for text in told)
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    assert {"hardware.sqlite", "out.mcq"} <= files.keys()
    assert not any(far.token.encode() in content for content in files.values())


def test_qpu_time_is_asked_for(train, far, answer, folder):
    answer("n\n")
    outcome = train(*NEW, backend="ibm_rome")
    assert outcome.code == 1
    assert "at most" in outcome.err
    assert not far.sent
    assert not (folder / "out.mcq").exists()
