"""The rows as tables: ``python -m studies.fixed_kernels.summary`` puts them into the README."""

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from statistics import mean

from mcquack.report import style
from studies.fixed_kernels.measure import CONTENDERS, ROWS
from studies.robustness.data import DATASETS
from studies.tables import stored_rows, table, write_tables

README = ROWS.with_name("README.md")
MEASURES = ("validation", "accuracy", "alignment", "seconds")


@cache
def means() -> Mapping[tuple[str, str, str], float]:
    """Every number as its mean over the seeds, by contender, dataset and measure."""
    found: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for row in stored_rows(ROWS):
        for measure in MEASURES:
            found[row["contender"], row["dataset"], measure].append(float(row[measure]))
    return {key: mean(values) for key, values in found.items()}


def overall(contender: str, measure: str) -> float:
    """Its mean over all datasets."""
    return mean(means()[contender, dataset, measure] for dataset in DATASETS)


def tables() -> dict[str, str]:
    """What the README has from the rows, tables and a sentence, by the names that it has there."""
    digits = {"validation": 3, "accuracy": 3, "alignment": 3, "seconds": 2}
    lines = [[name, *(f"{overall(name, measure):.{digits[measure]}f}" for measure in MEASURES)] for name in CONTENDERS]
    return {
        "overview": table(["contender", "validation", "test", "alignment", "seconds"], lines),
        **{measure: _by_dataset(measure) for measure in ("accuracy", "alignment")},
        "seeds": f"Numbers are means over {style.counted(_n_seeds(), 'seed')}, and here over {len(DATASETS)} datasets.",
    }


def _n_seeds() -> int:
    return len({row["seed"] for row in stored_rows(ROWS)})


def _by_dataset(measure: str) -> str:
    found = means()
    lines = [[name, *(f"{found[name, dataset, measure]:.3f}" for dataset in DATASETS)] for name in CONTENDERS]
    return table(["contender", *DATASETS], lines)


def main() -> None:
    """Writes the tables into the README."""
    write_tables(README, tables())


if __name__ == "__main__":
    main()
