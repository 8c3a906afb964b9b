"""Try wheel and source archive where nothing else is installed: ``python -m tests.fresh_environments dist/*``.

Each file is installed in a fresh environment of every Python from 3.11 on that is found, and the wheel once more with
the oldest dependencies that ``pyproject.toml`` admits. There ``tests/smoke.py`` runs, away from the sources.
"""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[1]


def oldest_dependencies(project: dict[str, Any]) -> list[str]:
    """The lowest release of each dependency that the project admits, as constraints for pip."""
    bounds = (re.match(r"([\w.-]+)>=([\d.]+)", line) for line in project["dependencies"])
    return [f"{bound[1]}=={bound[2]}.*" for bound in bounds if bound]


def pythons(project: dict[str, Any]) -> list[str]:
    """The interpreters here of the versions that the project names, the oldest first; this one, if there are none."""
    told = [line.rpartition(" ")[2] for line in project["classifiers"] if re.search(r":: 3\.\d+$", line)]
    found = [path for version in told if (path := shutil.which(f"python{version}"))]
    return found or [sys.executable]


def try_out(python: str, archive: Path, constraints: list[str]) -> None:
    """Install the archive in a fresh environment and run the smoke test there, with warnings of mcquack as errors."""
    with TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "constraints.txt").write_text("\n".join(constraints), encoding="utf-8")
        subprocess.run([python, "-m", "venv", home / "venv"], check=True)
        inside = home / "venv" / "bin" / "python"
        pip: list[str | Path] = [inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--constraint", home / "constraints.txt", archive.resolve()], check=True)
        shutil.copy(ROOT / "tests" / "smoke.py", home)
        subprocess.run([inside, "-I", "-W", "error::DeprecationWarning:mcquack", "smoke.py"], check=True, cwd=home)


def main() -> None:
    """Try every file named on the command line, and say of each where it held."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = pythons(project)
    archives = [Path(name) for name in sys.argv[1:]]
    tries: list[tuple[str, Path, list[str]]] = [(python, archive, []) for python in found for archive in archives]
    tries += [(found[0], archive, oldest_dependencies(project)) for archive in archives if archive.suffix == ".whl"]
    for python, archive, constraints in tries:
        with_what = "the oldest dependencies" if constraints else "the newest dependencies"
        sys.stdout.write(f"{archive.name} on {python} with {with_what} …\n")
        sys.stdout.flush()
        try_out(python, archive, constraints)
    sys.stdout.write(f"held in {len(tries)} fresh environments\n")


if __name__ == "__main__":
    main()
