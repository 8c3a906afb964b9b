import numpy as np
import pytest

from mcquack.cli import fit as fit_module
from mcquack.models import McQuackClassifier
from tests.cli.tables import two_classes


@pytest.fixture
def interrupted_after(monkeypatch):
    """Lets the user press Ctrl-C after so many epochs."""

    def patch(n_epochs):
        def shown(epochs, **_):
            for count, epoch in enumerate(epochs, start=1):
                if count > n_epochs:
                    raise KeyboardInterrupt
                yield epoch

        monkeypatch.setattr(fit_module, "shown", shown)
        return monkeypatch

    return patch


def test_an_interrupted_training_goes_on_to_the_same_model(fitted, interrupted_after):
    path, _ = fitted(two_classes(), "--epochs", 8)
    whole = McQuackClassifier.load(path)
    path.unlink()

    patch = interrupted_after(3)
    _, outcome = fitted(two_classes(), "--epochs", 8)
    assert outcome.code == 130
    assert "--resume" in outcome.err
    patch.undo()
    _, outcome = fitted(two_classes(), "--epochs", 8, "--resume")
    assert outcome.code == 0

    resumed = McQuackClassifier.load(path)
    assert resumed.n_iter_ == whole.n_iter_
    for name in ("weights_", "bias_", "centroids_"):
        np.testing.assert_array_equal(getattr(resumed, name), getattr(whole, name))


def test_training_is_written_while_it_runs(fitted, monkeypatch):
    saves = []
    monkeypatch.setattr(fit_module, "_SECONDS_BETWEEN_SAVES", -1.0)
    save = McQuackClassifier.save
    monkeypatch.setattr(
        McQuackClassifier, "save", lambda self, *args, **kw: (saves.append(kw["resumable"]), save(self, *args, **kw))
    )
    fitted(two_classes(), "--epochs", 3)
    assert saves == [True, True, True, False]


def test_only_the_interrupted_training_of_the_same_table_is_resumed(fitted, mcquack, table, interrupted_after):
    _, outcome = fitted(two_classes(), "--resume")
    assert outcome.code == 1
    path, _ = fitted(two_classes())
    _, outcome = fitted(two_classes(), "--resume")
    assert outcome.code == 1
    assert "was finished" in outcome.err
    patch = interrupted_after(1)
    fitted(two_classes(), "--epochs", 8, "--force")
    patch.undo()
    before = path.read_bytes()
    _, outcome = fitted(two_classes().replace("red", "pink"), "--resume")
    assert outcome.code == 1
    assert "same table" in outcome.err
    assert path.read_bytes() == before
