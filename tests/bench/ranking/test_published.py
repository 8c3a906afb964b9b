import csv
import shutil

import pytest

from mcquack import datasets
from mcquack.bench.ranking import QNN_FAMILY, published_scores, ranks, score_table, standings, standings_by_family
from mcquack.bench.ranking.published import CORRECTED, LEFT_OUT, SOURCE
from mcquack.errors import DataFileError, InvalidInputError, MissingDataError

FOLDER = "qml_benchmarks/scores"

# Average normalised ranks of the published scores, the number of datasets and the mean test accuracy.
PUBLISHED = {
    "MLPClassifier": (0.225, 133, 0.892),
    "DressedQuantumCircuitClassifier": (0.278, 103, 0.854),
    "DataReuploadingClassifier": (0.446, 133, 0.830),
    "QuantumBoltzmannMachine": (0.458, 21, 0.835),
    "IQPVariationalClassifier": (0.695, 109, 0.744),
    "QuantumMetricLearner": (0.715, 103, 0.740),
    "CircuitCentricClassifier": (0.745, 130, 0.718),
    "TreeTensorClassifier": (0.879, 133, 0.640),
}


@pytest.fixture(scope="module")
def as_published(data_dir):
    return score_table(published_scores(data_dir, corrected=False))


@pytest.fixture(scope="module")
def corrected(data_dir):
    return score_table(published_scores(data_dir))


@pytest.fixture(scope="module")
def computed(data_dir):
    """The same ranks as somebody else computed them, by model."""
    with (data_dir / FOLDER / "average_ranks_qnn_family.csv").open(encoding="utf-8", newline="") as file:
        return {row["model"]: row for row in csv.DictReader(file)}


def test_the_published_ranking_is_reproduced(as_published):
    lines = standings(as_published)
    assert [line.contender.model for line in lines] == list(PUBLISHED)
    for line in lines:
        rank, n_datasets, score = PUBLISHED[line.contender.model]
        assert line.average_rank == pytest.approx(rank, abs=6e-4)
        assert line.n_datasets == n_datasets
        assert line.mean_score == pytest.approx(score, abs=6e-4)
        assert line.interval.low < line.average_rank < line.interval.high


def test_every_number_of_the_table_beside_the_scores_is_reproduced(as_published, computed):
    lines = {line.contender.model: line for line in standings(as_published)}
    shared = {line.contender.model: line for line in standings(as_published, ties="average")}
    assert set(computed) == set(lines)
    for model, row in computed.items():
        assert lines[model].average_rank == pytest.approx(float(row["avg_rank"]), abs=6e-6)
        assert shared[model].average_rank == pytest.approx(float(row["avg_rank_tie_average"]), abs=6e-6)
        assert lines[model].rank_counts == tuple(int(row[f"n_rank_{rank}"]) for rank in range(1, 9))
    for family, board in standings_by_family(as_published).items():
        for line in board:
            row = computed[line.contender.model]
            assert line.average_rank == pytest.approx(float(row[f"rank_{family}"]), abs=6e-6)
            assert line.mean_score == pytest.approx(float(row[f"acc_{family}"]), abs=6e-6)
            assert line.n_datasets == int(row[f"n_{family}"])


def test_the_corrected_ranking_is_reproduced(corrected, computed):
    for line in standings(corrected):
        expected = float(computed[line.contender.model]["avg_rank_corrected"])
        assert line.average_rank == pytest.approx(expected, abs=6e-6)


def test_only_what_was_faulty_is_corrected(as_published, corrected):
    assert as_published.datasets == corrected.datasets
    differs = (as_published.means != corrected.means) & corrected.is_there
    mlp = [each.model for each in corrected.contenders].index("MLPClassifier")
    changed = {corrected.datasets[row] for row in differs[:, mlp].nonzero()[0]}
    assert changed == {f"two_curves_diff_{n}" for n in range(13, 21)}
    assert differs.sum() == len(changed)
    assert (ranks(as_published) != ranks(corrected)).any()


def test_every_cell_says_whose_it_is_and_what_was_done_to_it(data_dir):
    cells = published_scores(data_dir, models=None)
    assert {cell.source for cell in cells} == {SOURCE}
    notes = {(cell.model, cell.dataset): cell.note for cell in cells if cell.note}
    assert {key for key, note in notes.items() if note == CORRECTED} == {
        *(("MLPClassifier", f"two_curves_diff_{n}") for n in range(13, 21)),
        *(("SVC", f"two_curves_diff_{n}") for n in range(16, 21)),
    }
    left_out = {key for key, note in notes.items() if note == LEFT_OUT}
    assert left_out == {("SeparableVariationalClassifier", f"two_curves_diff_{n}") for n in range(2, 21)}
    for cell in cells:
        assert (cell.mean("test", "accuracy") is None) == (cell.note == LEFT_OUT)
        assert len(cell.values["train", "accuracy"]) == 5


def test_cells_are_of_our_datasets_with_family_and_size(data_dir):
    cells = published_scores(data_dir, models=None)
    assert {cell.dataset for cell in cells} == set(datasets.names(suite="qml"))
    for cell in cells:
        assert cell.family == datasets.describe(cell.dataset).family
        assert cell.dataset == f"{cell.family}_{cell.size}"


def test_models_can_be_chosen(data_dir):
    assert {cell.model for cell in published_scores(data_dir, models=["SVC"])} == {"SVC"}
    assert {cell.model for cell in published_scores(data_dir)} == set(QNN_FAMILY)
    assert len({cell.model for cell in published_scores(data_dir, models=None)}) == 20
    with pytest.raises(InvalidInputError, match="no scores of svc were published; there are "):
        published_scores(data_dir, models=["svc"])


def test_files_that_are_absent_are_asked_for(tmp_path):
    with pytest.raises(MissingDataError, match=rf"{FOLDER}/final_scores.csv.gz"):
        published_scores(tmp_path)


def test_scores_that_somebody_changed_are_refused(data_dir, tmp_path):
    shutil.copytree(data_dir / FOLDER, tmp_path / FOLDER)
    path = tmp_path / FOLDER / "reruns_two_curves_diff.csv"
    path.write_text(path.read_text(encoding="utf-8").replace("0.85\n", "0.95\n"), encoding="utf-8")
    with pytest.raises(DataFileError, match=r"reruns_two_curves_diff\.csv"):
        published_scores(tmp_path)
