import csv
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcquack import datasets
from mcquack.bench.ranking import (
    QNN_FAMILY,
    published_scores,
    published_settings,
    ranks,
    read_published,
    score_table,
    standings,
)
from mcquack.bench.ranking.published import CORRECTED, LEFT_OUT, SOURCE
from mcquack.bench.task import METRICS
from mcquack.errors import DataFileError, InvalidInputError, InvalidTableError, MissingDataError
from mcquack.models import catalog
from tests.bench.published import written
from tests.known import known

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
        interval = known(line.interval)
        assert interval.low < line.average_rank < interval.high


def test_every_number_of_the_table_beside_the_scores_is_reproduced(as_published, computed):
    lines = {line.contender.model: line for line in standings(as_published)}
    shared = {line.contender.model: line for line in standings(as_published, ties="average")}
    assert set(computed) == set(lines)
    for model, row in computed.items():
        assert lines[model].average_rank == pytest.approx(float(row["avg_rank"]), abs=6e-6)
        assert shared[model].average_rank == pytest.approx(float(row["avg_rank_tie_average"]), abs=6e-6)
        assert lines[model].rank_counts == tuple(int(row[f"n_rank_{rank}"]) for rank in range(1, 9))
    for family in set(as_published.families):
        for line in standings(as_published.of_family(family)):
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
    with pytest.raises(InvalidInputError, match=r" svc .*; "):
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


# Settings


@pytest.fixture(scope="module")
def settings(data_dir):
    return published_settings(data_dir)


def test_settings_are_known_for_the_models_that_were_published_here_and_there(settings):
    theirs = {*QNN_FAMILY, "SVC"}
    ours = {entry.name for entry in catalog.entries() if entry.class_name in theirs} | {"mlp", "svc"}
    assert set(settings) == ours
    assert settings["mlp"].keys() == set(datasets.names("qml"))
    for by_dataset in settings.values():
        assert by_dataset.keys() <= set(datasets.names("qml"))


def test_every_published_setting_is_one_that_the_model_takes(settings):
    for name, by_dataset in settings.items():
        entry = catalog.entry(name)
        for values in {str(each): each for each in by_dataset.values()}.values():
            entry.new(**values)._check_settings()


def test_published_settings_lie_in_the_search_spaces(settings):
    """With the same types too, so that their tasks have the ids of those that a search would ask for."""
    for name in ("mlp", "svc"):
        space = catalog.entry(name).search_space("qml").values
        for values in settings[name].values():
            for setting, value in values.items():
                given = tuple(value) if isinstance(value, list) else value
                assert (type(given), given) in [(type(each), each) for each in space[setting]]


def test_texts_become_values_of_the_type_that_the_default_has(tmp_path, monkeypatch):
    assert published_settings(written(tmp_path, monkeypatch)) == {
        "svc": {"two_curves_2": {"C": 10.0, "gamma": 1.0}, "two_curves_3": {"C": 1.0, "gamma": 0.1}},
        "mlp": {"two_curves_3": {"alpha": 0.01, "batch_size": 16, "hidden_layer_sizes": [5, 4], "learning_rate": 1.0}},
    }
    found = published_settings(tmp_path)["mlp"]["two_curves_3"]
    assert (type(found["batch_size"]), type(found["learning_rate"])) == (int, float)


def test_a_model_is_known_by_its_class_and_all_visible_qubits_are_full_now(tmp_path, monkeypatch):
    lines = ("two_curves,2,any,QuantumBoltzmannMachine,visible_qubits,all", "two_curves,2,any,Unknown,C,1.0")
    folder = written(tmp_path, monkeypatch, lines=lines)
    assert published_settings(folder) == {"boltzmann": {"two_curves_2": {"visible_qubits": "full"}}}


def test_the_file_of_settings_is_asked_for_and_verified(data_dir, tmp_path):
    with pytest.raises(MissingDataError, match=rf"{FOLDER}/best_hyperparameters.csv.gz"):
        published_settings(tmp_path)
    shutil.copytree(data_dir / FOLDER, tmp_path / FOLDER)
    (tmp_path / FOLDER / "best_hyperparameters.csv.gz").write_bytes(b"")
    with pytest.raises(DataFileError, match=r"best_hyperparameters\.csv"):
        published_settings(tmp_path)


# Tables

HEADER = "dataset,model,part,metric,mean,std,n_parameters,source"
LINE = "iris3,svc,test,auc,0.9,0.1,48,A and B 2024"
PAPER = Path(__file__).parents[3] / "studies" / "real_world" / "paper.csv"


@pytest.fixture
def table(tmp_path):
    def written(*lines, header=HEADER, encoding="utf-8"):
        path = tmp_path / "table.csv"
        path.write_bytes("\n".join([header, *lines, ""]).encode(encoding))
        return path

    return written


def test_lines_of_a_cell_become_one_value(table):
    path = table(LINE, "iris3,svc,train,f1,1,0,,A and B 2024", "two_curves_7,Odd Model,test,auc,0.5,0,,C")
    first, second = read_published(path)
    assert (first.dataset, first.family, first.size, first.model, first.title) == ("iris3", "iris", None, "svc", "SVC")
    assert (first.source, first.is_published, first.n_parameters) == ("A and B 2024", True, 48)
    assert first.reported == {("test", "auc"): (0.9, 0.1), ("train", "f1"): (1.0, 0.0)}
    assert (first.mean("test", "auc"), first.spread("test", "auc")) == (0.9, 0.1)
    assert (second.family, second.size, second.title, second.n_parameters) == ("two_curves", 7, "Odd Model", None)


def test_models_of_the_same_title_in_one_publication_have_their_full_names(table):
    models = ("svc", "sklearn.svm:SVC")
    lines = [f"iris3,{model},test,auc,0.9,0.1,,me" for model in models]
    cells = read_published(table(*lines, "iris3,svc,test,auc,0.9,0.1,,you"))
    assert [cell.title for cell in cells] == [*models, "SVC"]


def test_a_dataset_that_nobody_knows_is_of_the_family_own(table):
    (cell,) = read_published(table("my_table_3,svc,test,auc,0.9,0.1,,me"))
    assert (cell.family, cell.size) == ("own", None)


def test_columns_may_stand_in_any_order_beside_others(table):
    header = "source,std,mean,metric,part,model,dataset,n_parameters,remark"
    (cell,) = read_published(table("me,0.1,0.9,auc,test,svc,iris3,7,fine", header=header))
    assert cell.reported == {("test", "auc"): (0.9, 0.1)}


def test_what_spreadsheets_write_is_read(table):
    spaced = table(LINE.replace(",", ", "), "", header=HEADER.replace(",", ", "), encoding="utf-8-sig")
    (cell,) = read_published(spaced)
    assert cell.source == "A and B 2024"
    crlf = table()
    crlf.write_bytes(f"{HEADER}\r\n{LINE.replace('A and B 2024', chr(34) + 'A, B' + chr(34))}\r\n".encode())
    assert read_published(crlf)[0].source == "A, B"


@given(
    scores=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=len(METRICS), max_size=len(METRICS)),
    n_parameters=st.none() | st.integers(0, 10**9),
)
def test_numbers_are_read_as_they_were_written(tmp_path_factory, scores, n_parameters):
    path = tmp_path_factory.mktemp("published") / "table.csv"
    lines = [
        f"iris3,svc,test,{metric},{mean!r},{std!r},{'' if n_parameters is None else n_parameters},me"
        for metric, (mean, std) in zip(METRICS, scores, strict=True)
    ]
    path.write_text("\n".join([HEADER, *lines]), encoding="utf-8")
    (cell,) = read_published(path)
    assert cell.reported == {("test", metric): score for metric, score in zip(METRICS, scores, strict=True)}
    assert cell.n_parameters == n_parameters


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("0.9", "90", "mean must be a number from 0 to 1, got '90'"),
        ("0.9", "nan", "mean must be a number from 0 to 1, got 'nan'"),
        ("0.9", "", "mean must be a number from 0 to 1, got ''"),
        ("0.1", "-0.1", "std must be a number from 0 to 1"),
        ("48", "many", "n_parameters must be a whole number or empty, got 'many'"),
        ("48", "-1", "n_parameters must be a whole number or empty"),
        ("auc", "acuracy", "no metric is named 'acuracy'; did you mean accuracy"),
        ("test", "holdout", "no part is named 'holdout'; there are train, validation, test"),
        ("A and B 2024", " ", "source is empty"),
        ("iris3", "", "dataset is empty"),
        ("svc", "", "model is empty"),
        (",A and B 2024", "", "source is empty"),
        ("svc", '"svc"x', "expected after"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(table, old, new, message):
    with pytest.raises(InvalidTableError, match=rf"table\.csv, line 3: .*{message}"):
        read_published(table(LINE.replace("iris3", "url"), LINE.replace(old, new, 1)))


def test_a_score_that_is_there_twice_is_refused(table):
    with pytest.raises(InvalidTableError, match=r"line 3: .* iris3 \(test auc\)"):
        read_published(table(LINE, LINE.replace("0.9", "0.8")))


def test_what_is_no_such_table_is_refused(table, tmp_path):
    with pytest.raises(InvalidTableError, match=r"line 1: .* std and source;"):
        read_published(table(LINE, header="dataset,model,part,metric,mean,n_parameters"))
    with pytest.raises(InvalidTableError, match="No such file"):
        read_published(tmp_path / "absent.csv")
    with pytest.raises(InvalidTableError, match="not UTF-8"):
        read_published(table("é", encoding="latin-1"))
    empty = tmp_path / "empty.csv"
    empty.write_bytes(b"")
    with pytest.raises(InvalidTableError, match="dataset and model"):
        read_published(empty)
    assert read_published(table()) == ()


@pytest.fixture(scope="module")
def paper():
    if not PAPER.is_file():
        pytest.skip("studies/ is not part of a source distribution")
    return read_published(PAPER)


def test_the_table_of_the_paper_is_whole(paper):
    assert {cell.dataset for cell in paper} == set(datasets.names(suite="real-world"))
    assert {cell.model for cell in paper} == {"mcquack", "vc", "svc", "nn", "nystroem_svm"}
    assert len(paper) == 20 * 5
    for cell in paper:
        assert set(cell.reported) == {("test", metric) for metric in METRICS}
        assert cell.title == catalog.entry(cell.model).title
        assert cell.n_parameters is not None
        assert cell.is_published


def test_parameters_of_the_paper_are_those_of_its_formula(paper):
    """6nL + M·d with n = 6 qubits in one repetition, where the paper's number of features d is known."""
    for cell in paper:
        description = datasets.describe(cell.dataset)
        n_features = description.paper_n_features or description.n_features
        layers = -(-n_features // 6)
        if cell.model == "mcquack":
            assert cell.n_parameters == 36 * layers + description.n_classes * n_features
        if cell.model == "vc":
            assert cell.n_parameters == 36 * layers * description.n_classes


@pytest.mark.parametrize(
    ("metric", "order", "told"),
    [
        ("auc", ["nn", "svc", "mcquack"], {"nn": 0.17, "mcquack": 0.50}),
        ("balanced_accuracy", ["nn", "mcquack", "svc"], {"nn": 0.10, "mcquack": 0.49}),
    ],
)
def test_the_ranks_that_the_paper_tells_are_possible(paper, metric, order, told):
    """Its table has two decimals, so most of its ties are none: what it tells must lie between the best and the worst.

    Of five models rank / 5 is at least 0.2, more than it tells of NN, so its scale must be (rank − 1) / 4.
    """
    table = score_table(paper, metric=metric)
    lines = standings(table, scale="unit")
    assert [line.contender.model for line in lines][:3] == order
    best = {line.contender.model: line.average_rank for line in lines}
    middle = {line.contender.model: line.average_rank for line in standings(table, ties="average", scale="unit")}
    for model, rank in told.items():
        worst = 2 * middle[model] - best[model]  # shared ranks are half way
        assert best[model] <= rank + 0.005
        assert rank - 0.005 <= worst
