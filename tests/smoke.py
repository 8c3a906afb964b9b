"""What mcquack does where only its dependencies are installed; ``tests/fresh_environments.py`` runs it there."""

import subprocess
import sys
import sysconfig
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from sklearn.datasets import load_iris

import mcquack
from mcquack.circuits import Circuit, b, w, x

COMMAND = Path(sysconfig.get_path("scripts")) / "mcquack"


def said(*arguments: str | Path) -> str:
    """What the command says; one that fails ends the test, with its words."""
    done = subprocess.run([COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"mcquack {arguments[0]} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def main() -> None:
    """Train, save, load, build a circuit, and do the same by the command line."""
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])
    model = mcquack.McQuackClassifier(random_state=0, epochs=20).fit(X, names[y])
    assert model.score(X, names[y]) > 0.9
    own = Circuit(2, 4).ry(0, w * x[0] + b).ry(1, w * x[2] + b).cz((0, 1)).repeated(2)
    assert mcquack.McQuackClassifier(feature_map=own, epochs=2, random_state=0).fit(X, y).n_features_in_ == 4
    with TemporaryDirectory() as folder:
        path, table, labels = Path(folder) / "iris.mcq", Path(folder) / "iris.csv", Path(folder) / "labels.csv"
        model.save(path)
        assert (mcquack.load(path).predict(X) == model.predict(X)).all()
        rows = [",".join([*map(str, sample), names[label]]) for sample, label in zip(X, y, strict=True)]
        table.write_text("\n".join(["a,b,c,d,species", *rows]) + "\n", encoding="utf-8")
        said("fit", table, "--target", "species", "--out", Path(folder) / "own.mcq", "--epochs", "2")
        said("predict", Path(folder) / "own.mcq", table, "--out", labels)
        assert len(labels.read_text(encoding="utf-8").splitlines()) == len(X) + 1
        assert "setosa" in said("info", Path(folder) / "own.mcq")
    assert version("mcquack") in said("--version")
    assert "real-world-race" in said("bench", "suites")


if __name__ == "__main__":
    main()
