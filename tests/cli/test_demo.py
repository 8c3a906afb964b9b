import pytest

from mcquack.cli import demo as demo_module


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo") / "new" / "folder"


def test_the_demo_compares_draws_and_leaves_files_to_go_on_with(mcquack, folder, tmp_path):
    outcome = mcquack("demo", "--out", folder, "--epochs", 2)
    assert outcome.code == 0
    for name in ("McQuack", "NearestCentroid", "SVC", "MLPClassifier"):
        assert name in outcome.out
    assert sorted(path.name for path in folder.iterdir()) == [
        "circuit.png",
        "digits-test.csv",
        "digits.csv",
        "digits.mcq",
        "embedding.png",
        "kernel.png",
        "training.png",
    ]
    # What it suggests to try next can be typed in as it stands.
    suggested = [line.split()[1:] for line in outcome.out.splitlines() if line.startswith("  mcquack ")]
    assert [words[0] for words in suggested] == ["info", "predict", "fit"]
    for verb in suggested[:2]:
        assert mcquack(*verb).code == 0


def test_a_file_is_no_folder(mcquack, tmp_path):
    (tmp_path / "file").write_text("")
    outcome = mcquack("demo", "--out", tmp_path / "file")
    assert outcome.code == 1
    assert "is a file" in outcome.err


def test_an_interrupted_demo_has_its_code(mcquack, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(demo_module, "shown", interrupted)
    assert mcquack("demo", "--out", tmp_path / "demo").code == 130
