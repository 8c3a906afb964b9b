"""The READMEs of the studies of robustness and of fixed kernels say what their rows say."""

from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

STUDIES = Path(__file__).parents[2] / "studies"

pytestmark = pytest.mark.skipif(not STUDIES.is_dir(), reason="a source archive has no results")


def rows(study):
    from studies.tables import stored_rows

    return stored_rows(STUDIES / study / "rows.csv")


def test_every_dataset_and_seed_has_all_rows_of_robustness_once():
    from studies.robustness.data import DATASETS
    from studies.robustness.measure import FIELDS, LADDERS

    found = rows("robustness")
    keys = [tuple(row[name] for name in FIELDS[:-1]) for row in found]
    assert len(set(keys)) == len(keys)
    by_unit = defaultdict(set)
    for dataset, seed, *rest in keys:
        by_unit[dataset, seed].add(tuple(rest))
    assert {dataset for dataset, _ in by_unit} == set(DATASETS)
    assert len({frozenset(measured) for measured in by_unit.values()}) == 1
    assert {row["model"] for row in found} == set(LADDERS)
    assert len(by_unit) % len(DATASETS) == 0


def test_no_attack_gets_below_a_certified_radius_and_all_are_stronger_than_noise():
    by_model: dict[tuple[str, ...], dict[tuple[str, ...], float]] = defaultdict(dict)
    for row in rows("robustness"):
        by_model[row["dataset"], row["seed"], row["model"]][row["measure"], row["source"], row["size"]] = float(
            row["value"]
        )
    for (_, _, model), found in by_model.items():
        assert 0 < found["certified", "", ""] <= found["adversarial", "", ""]
        assert found["pgd", model, "0.1"] <= found["fgsm", model, "0.1"] + 0.02
        assert found["pgd", model, "0.1"] <= found["uniform", "", "0.1"]
        assert found["pgd", model, "0.1"] == found["transfer", model, "0.1"]
        sizes = sorted((float(size), value) for (measure, _, size), value in found.items() if measure == "pgd")
        assert (np.diff([value for _, value in sizes]) <= 0.05).all()


def test_what_the_readme_of_robustness_finds_is_in_the_rows():
    from studies.robustness.measure import LADDERS
    from studies.robustness.summary import overall

    under_attack = {model: overall(model, "pgd", size=0.1) for model in LADDERS}
    assert max(under_attack, key=under_attack.__getitem__) == "SVC"
    assert min(under_attack, key=under_attack.__getitem__) == "NN"
    assert (
        under_attack["McQuack, λ = 0.001"] > under_attack["McQuack, alignment"] > under_attack["McQuack, cross entropy"]
    )
    assert under_attack["SVC"] > under_attack["VC"] > under_attack["McQuack, cross entropy"]
    for model in LADDERS:
        clean = overall(model, "clean")
        assert clean - overall(model, "uniform", size=0.1) < 0.03
        for source in LADDERS:
            lost = clean - overall(model, "transfer", size=0.1, source=source)
            assert lost > 0.5 * (clean - under_attack[model])
    radii = {model: overall(model, "adversarial") / overall(model, "certified") for model in LADDERS}
    assert 2 < radii["SVC"] < 5
    assert all(6 < radii[model] < 20 for model in LADDERS if model not in ("SVC", "NN"))
    at_best = {model: overall(model, "best clean") for model in LADDERS}
    assert at_best["McQuack, cross entropy"] > at_best["McQuack, alignment"] > at_best["McQuack, λ = 0.001"] - 0.01
    certified = {model: overall(model, "certified") for model in LADDERS}
    assert max(certified, key=certified.__getitem__) == "SVC"
    assert min(certified, key=certified.__getitem__) == "McQuack, alignment"
    assert certified["McQuack, λ = 0.001"] > 1.5 * certified["McQuack, alignment"]


def test_the_defaults_loss_is_not_told_from_the_network_and_is_behind_the_others_everywhere():
    from studies.robustness.data import DATASETS
    from studies.robustness.summary import value

    radii = {
        model: np.array([value(name, model, "adversarial") for name in DATASETS])
        for model in ("McQuack, cross entropy", "NN", "VC", "SVC")
    }
    own = radii.pop("McQuack, cross entropy")
    assert [int((own > other).sum()) for other in radii.values()] == [5, 0, 0]


def test_every_contender_has_a_row_for_every_dataset_and_seed():
    from studies.fixed_kernels.measure import CONTENDERS
    from studies.robustness.data import DATASETS

    keys = [(row["dataset"], row["seed"], row["contender"]) for row in rows("fixed_kernels")]
    seeds = {seed for _, seed, _ in keys}
    assert sorted(keys) == sorted((name, seed, one) for name in DATASETS for seed in seeds for one in CONTENDERS)


def test_what_the_readme_of_fixed_kernels_finds_is_in_the_rows():
    from studies.fixed_kernels.measure import CONTENDERS
    from studies.fixed_kernels.summary import means, overall
    from studies.robustness.data import DATASETS

    alignment = {name: overall(name, "alignment") for name in CONTENDERS}
    trained = {"McQuack", "SVC on McQuack's trained kernel"}
    assert min(alignment[name] for name in trained) > max(alignment[name] for name in CONTENDERS if name not in trained)
    behind = ("SVC on ZZ", "SVC on IQP")
    for dataset in ("digits", "covert", "mnist10", "fmnist10"):
        trained_score = means()["SVC on McQuack's trained kernel", dataset, "accuracy"]
        assert max(means()[name, dataset, "accuracy"] for name in behind) < trained_score
    accuracy = {name: overall(name, "accuracy") for name in CONTENDERS}
    assert accuracy["SVC on McQuack's circuit, random"] > max(accuracy[name] for name in behind)
    assert max(accuracy["SVC on ZZ"], accuracy["SVC on IQP"]) < min(accuracy[name] for name in trained)

    def record(one, other):
        found = [round(means()[one, name, "accuracy"] - means()[other, name, "accuracy"], 9) for name in DATASETS]
        return round(sum(found) / len(found), 3), sum(each > 0 for each in found), sum(each < 0 for each in found)

    assert record("McQuack", "SVC on ZZ") == (0.027, 7, 0)
    assert record("McQuack", "SVC on IQP") == (0.065, 7, 0)
    assert record("McQuack", "SVC on RBF") == (-0.002, 2, 5)
    assert record("SVC on McQuack's trained kernel", "SVC on McQuack's circuit, random") == (0.008, 4, 2)


def test_a_centred_alignment_is_that_of_the_definition():
    from studies.fixed_kernels.measure import centred_alignment

    labels = np.array([0, 0, 1, 1, 2])
    target = (labels[:, None] == labels).astype(float)
    assert centred_alignment(3 * target + 7, labels) == pytest.approx(1)
    random = np.random.default_rng(0).normal(size=(5, 5))
    centring = np.eye(5) - 1 / 5
    left, right = centring @ (random @ random.T) @ centring, centring @ target @ centring
    expected = np.trace(left @ right) / np.linalg.norm(left) / np.linalg.norm(right)
    assert centred_alignment(random @ random.T, labels) == pytest.approx(expected)


def test_ladders_are_matched_on_the_validation_part_alone():
    from studies.robustness import measure

    class Fixed:
        def __init__(self, score):
            self.value = score

        def score(self, X, y):
            assert X == "validation"
            return self.value

    scores = {"one": [0.5, 0.79, 0.9], "two": [0.6, 0.78, 0.8, 0.8]}

    def ladder(name):
        return lambda data, seed: ((rung, Fixed(score)) for rung, score in enumerate(scores[name]))

    data: Any = SimpleNamespace(X_validation="validation", y_validation=None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measure, "LADDERS", {name: ladder(name) for name in scores})
        found = measure.chosen(data, 0)
    assert [(choice.matched[0], choice.best[0]) for choice in found.values()] == [(1, 2), (3, 3)]
    assert found["one"].validation == 0.79
