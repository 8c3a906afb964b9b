import math

import numpy as np
import pytest

from mcquack.studies.trainability.analysis import scaling, size_means

SIZES = np.arange(2, 14)


def verdict(log_law, *, scatter=0.1, n_seeds=4, seed=0, sizes=SIZES):
    rng = np.random.default_rng(seed)
    runs = np.repeat(np.asarray(sizes, float), n_seeds)
    logs = log_law(runs) + rng.normal(scale=scatter, size=len(runs))
    return scaling(size_means(runs, logs, logarithmic=True), n_resamples=300)


def test_an_exponential_decay_is_called_so_with_its_rate():
    found = verdict(lambda n: -0.9 * math.log(2) * n)
    assert found.kind == found.best == found.favoured == "exponential"
    assert found.advantage > 6
    assert found.fits["exponential"].halvings_per_qubit == pytest.approx(0.9, abs=0.02)
    told = -found.fits["exponential"].halvings_per_qubit
    assert f"decays exponentially, by a factor of 2^({told:.2f}) per qubit" in found.sentence
    assert "favoured over the power law by ΔAICc" in found.sentence


def test_a_power_law_is_called_so_with_its_exponent():
    found = verdict(lambda n: -2 * np.log(n))
    assert found.kind == found.favoured == "power"
    assert found.advantage < -6
    assert found.fits["power"].rate == pytest.approx(2, abs=0.1)
    assert f"decays polynomially, as n^({-found.fits['power'].rate:.2f})" in found.sentence


def test_no_decay_is_none_and_says_what_decay_is_excluded():
    found = verdict(lambda n: 0 * n)
    assert found.kind == "none"
    assert "no change that could be told from scatter" in found.sentence
    assert "95 % interval of the exponent" in found.sentence


def test_growth_is_no_decay():
    assert verdict(lambda n: 0.3 * n).kind == "growth"
    assert "grows" in verdict(lambda n: 0.3 * n).sentence


def test_what_both_laws_fit_is_left_undecided():
    found = verdict(lambda n: -0.1 * n, scatter=0.15, sizes=np.arange(6, 14))
    assert found.kind == "undecided"
    assert found.favoured is None
    assert "do not tell which" in found.sentence


def test_a_law_that_misses_is_reported_as_such():
    wild = np.random.default_rng(0).normal(scale=1.5, size=100)
    found = verdict(lambda n: -2 * n + wild[n.astype(int)])
    assert "no law is close" in found.sentence


def test_truth_is_seldom_called_by_the_wrong_name():
    laws = {"exponential": lambda n: -0.7 * n, "power": lambda n: -3 * np.log(n), "none": lambda n: 0 * n}
    for name, law in laws.items():
        kinds = [verdict(law, scatter=0.4, seed=seed).kind for seed in range(25)]
        assert sum(kind not in (name, "undecided") for kind in kinds) <= 4, (name, kinds)


def test_weights_and_differences_tell_the_same():
    found = verdict(lambda n: -0.2 * n)
    assert sum(found.weights.values()) == pytest.approx(1)
    assert min(found.delta_aicc.values()) == 0
    ratio = found.weights["exponential"] / found.weights["power"]
    assert max(ratio, 1 / ratio) == pytest.approx(found.evidence_ratio)
    assert found.delta_aicc[found.best] == 0
