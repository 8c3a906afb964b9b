import subprocess
import sys
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mcquack.errors import InvalidInputError
from mcquack.models import PAPER, QML_SUITE, catalog
from mcquack.randomness import stream

NAMES: dict[catalog.Kind, tuple[str, ...]] = {
    "quantum": (
        *("mcquack", "quack", "vc", "shared_vc", "kernel_alignment"),
        *("dressed", "boltzmann", "reuploading", "iqp_variational", "metric_learner", "circuit_centric", "tree_tensor"),
    ),
    "classical": ("svc", "nystroem_svm", "centroid_kernel", "nn", "mlp"),
}
N_SETTINGS = {
    ("mcquack", "tuned"): 24,
    ("quack", "tuned"): 24,
    ("mcquack", "real-world"): 2 * 2,
    ("mcquack", "qml"): 2 * 2 * 2 * 3 * 3 * 3 * 2,
    ("quack", "real-world"): 4,
    ("quack", "qml"): 432,
    ("vc", "real-world"): 2,
    ("shared_vc", "real-world"): 2 * 2,
    ("kernel_alignment", "real-world"): 4,
    ("kernel_alignment", "qml"): 4 * 2 * 2,
    ("dressed", "qml"): 3 * 4,
    ("boltzmann", "qml"): 3 * 3 * 3,
    ("reuploading", "qml"): 3 * 4 * 3,
    ("iqp_variational", "qml"): 3 * 4 * 3,
    ("metric_learner", "qml"): 3 * 3,
    ("circuit_centric", "qml"): 3 * 3 * 3,
    ("tree_tensor", "qml"): 3,
    ("svc", "real-world"): 4 * 4,
    ("svc", "qml"): 4 * 4,
    ("nystroem_svm", "real-world"): 10,
    ("nystroem_svm", "qml"): 7,
    ("centroid_kernel", "real-world"): 1,
    ("centroid_kernel", "qml"): 1,
    ("nn", "real-world"): 3,
    ("mlp", "qml"): 3 * 3 * 3,
}
EVERY_MODEL = pytest.mark.parametrize("entry", catalog.entries(), ids=catalog.names())


def test_all_models_are_there_under_their_names():
    assert catalog.names() == (*NAMES["quantum"], *NAMES["classical"])
    for kind, names in NAMES.items():
        assert catalog.names(kind) == names
        assert {entry.kind for entry in catalog.entries(kind)} == {kind}


@EVERY_MODEL
def test_an_entry_tells_enough_to_choose(entry):
    assert catalog.entry(entry.name) is entry
    assert entry.title
    assert entry.description.endswith(".")
    assert "\n" not in entry.description


def test_looking_at_the_catalogue_imports_no_model():
    code = (
        "import sys; from mcquack.models import catalog;"
        "[len(entry.search_space(suite)) for entry in catalog.entries() for suite in entry.suites];"
        "sys.exit(', '.join({'numba', 'scipy', 'sklearn'} & set(sys.modules)))"
    )
    finished = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert finished.stderr.strip() == ""


@pytest.mark.parametrize("model", ["svc", "nystroem_svm", "mlp"])
def test_the_classical_models_of_the_qml_suite_get_features_as_they_come(model):
    assert catalog.entry(model).search_space("qml").fixed["scale"] is False


# Classes


@EVERY_MODEL
def test_a_class_is_found_by_either_of_its_names(entry):
    kind = entry.estimator_class()
    assert catalog.classes()[kind.__name__]() is kind
    assert list(catalog.classes()).count(kind.__name__) == 1


@EVERY_MODEL
def test_settings_not_given_have_their_defaults(entry):
    model = entry.new(random_state=7) if "random_state" in entry.defaults() else entry.new()
    assert {**model.get_params(), "random_state": None} == {**entry.defaults(), "random_state": None}
    assert list(entry.defaults()) != []


@pytest.mark.parametrize(
    ("ask", "named"),
    [
        (lambda: catalog.entry("mcquak"), ["'mcquak'", "mcquack or quack"]),
        (lambda: catalog.entry("SVC"), ["'SVC'", "svc"]),
        (lambda: catalog.entry("zzz"), ["'zzz'", "mcquack models list"]),
        (lambda: catalog.names("quantic"), ["quantum or classical", "'quantic'"]),  # type: ignore[arg-type]
        (lambda: catalog.entry("mcquack").new(lr_kao=1), ["mcquack", "'lr_kao'", "lr_ka or lr_co"]),
        (lambda: catalog.entry("mcquack").new(zzz=1), ["'zzz'", "mcquack models show mcquack"]),
        (lambda: catalog.entry("vc").search_space("qml"), ["vc", "'qml'", "real-world"]),
    ],
)
def test_a_question_without_an_answer_is_refused_with_what_there_is(ask, named):
    with pytest.raises(InvalidInputError) as caught:
        ask()
    assert [each for each in named if each not in str(caught.value)] == []


def test_a_new_model_takes_a_class_and_an_entry(monkeypatch):
    dummy = catalog.Entry(
        name="dummy", title="Dummy", kind="classical", home="sklearn.dummy:DummyClassifier", description="Guesses."
    )
    listed = (*catalog.entries(), dummy)
    monkeypatch.setattr(catalog, "entries", lambda kind=None: listed)
    assert catalog.names()[-1] == "dummy"
    assert catalog.entry("dummy").new(strategy="prior").strategy == "prior"
    assert catalog.classes()["DummyClassifier"]() is dummy.estimator_class()
    assert dummy.suites == ()
    with pytest.raises(InvalidInputError, match=r"dummy .*'qml'"):
        dummy.search_space("qml")


# Search spaces


def test_the_search_spaces_are_as_large_as_the_papers():
    found = {(entry.name, suite): entry.search_space(suite) for entry in catalog.entries() for suite in entry.suites}
    assert {key: len(space) for key, space in found.items()} == N_SETTINGS
    assert len(list(found["mcquack", "qml"])) == 432
    assert catalog._search_spaces().keys() <= set(catalog.names())


@pytest.mark.parametrize(("suite", "preset"), [("real-world", PAPER), ("qml", QML_SUITE)])
def test_presets_lie_in_the_search_spaces(suite, preset):
    space = catalog.entry("mcquack").search_space(suite)
    assert dict(preset) in list(space)
    assert catalog.entry("quack").search_space(suite) == space


def test_variational_circuits_have_the_settings_of_mcquack():
    for name in ("vc", "shared_vc"):
        space = catalog.entry(name).search_space("real-world")
        same = space.values.keys() & PAPER.keys()
        assert {key: space.fixed[key] for key in same} == {key: PAPER[key] for key in same}
        assert {values for key, values in space.values.items() if key.startswith("lr")} == {(1e-2, 1e-3)}


@pytest.mark.parametrize(("name", "suite"), N_SETTINGS)
def test_every_value_of_a_search_space_can_be_fitted(name, suite):
    entry = catalog.entry(name)
    values = entry.search_space(suite).values
    assert values.keys() <= entry.defaults().keys()
    X = stream(0, name).normal(size=(24, 3))
    quick = {key: 2 for key in ("epochs", "max_iter", "max_steps") if key in entry.defaults()}
    for turn in range(max(map(len, values.values()))):
        settings = {key: options[turn % len(options)] for key, options in values.items()}
        with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):  # a few epochs are not enough
            model = entry.new(**settings | quick).fit(X, np.arange(24) % 2)
        assert set(model.predict(X)) <= {0, 1}
