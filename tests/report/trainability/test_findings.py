"""Findings follow from numbers, are at most five, and leave out what was not measured."""

import pytest

from mcquack.report.trainability.findings import MOST_FINDINGS, top_findings
from mcquack.report.trainability.sections import all_sections
from tests.report.trainability.fakes import observation, study_of


@pytest.fixture(scope="module")
def findings(study):
    return top_findings(study, list(all_sections(study)))


def test_there_are_five_and_each_has_a_figure_of_its_own(findings):
    assert [each.section for each in findings] == ["scaling", "scaling", "training", "importance", "shots"]
    assert len(findings) == MOST_FINDINGS
    assert len({each.picture.name for each in findings}) == MOST_FINDINGS
    assert all(each.details and each.headline.endswith(".") for each in findings)


def test_headlines_tell_what_the_numbers_do(findings):
    loss, entry, training, importance, shots = (each.headline for each in findings)
    assert loss.startswith("From 2 to 7 qubits, gradients of the loss fall ")
    assert "fall exponentially for all ones" in entry
    assert training == "The test accuracy after training is 0.89 for small and normal and 0.70 for all ones."
    assert importance.startswith("init_small explains 0.9")
    assert shots.startswith("To tell two classes apart at 7 qubits takes ")


def test_figures_of_findings_are_narrow_enough_for_a_phone(findings):
    assert max(each.picture.figure.get_figwidth() for each in findings) <= 5.2


def test_what_was_not_measured_is_no_finding():
    study = study_of([observation(n, seed=seed, epochs=0) for n in (2, 3) for seed in (0, 1)])
    found = top_findings(study, list(all_sections(study)))
    assert [each.section for each in found] == ["shots", "kernel"]  # two sizes are too few for a law
    assert top_findings(study, []) == ()
