import json

import pytest

from mcquack.bench.task import Task
from mcquack.errors import InvalidInputError
from mcquack.studies.trainability import Design, Grid, Sizes, read_design
from mcquack.studies.trainability.design import BUILT_IN, DEFAULT, PROBE, design_from_text
from mcquack.studies.trainability.running import seconds, work

TEXT = """\
name = "mine"

[grids.small]
dataset = "manifold"
seeds = 2

[grids.small.vary]
n_qubits = [2, 3]
init_small = [true, false]

[grids.small.settings]
epochs = 4
"""


@pytest.fixture
def design():
    return design_from_text(TEXT, called="mine.toml")


def test_a_grid_is_complete_and_every_point_has_every_seed(design):
    tasks = design.tasks()
    assert len(tasks) == len({task.id for task in tasks}) == 2 * 2 * 2
    assert {(dict(task.settings)["n_qubits"], dict(task.settings)["init_small"], task.seed) for task in tasks} == {
        (n_qubits, small, seed) for n_qubits in (2, 3) for small in (True, False) for seed in (0, 1)
    }
    assert tasks[0] == Task.of(
        "manifold", PROBE, {"n_qubits": 2, "init_small": True, "epochs": 4, "series": "small"}, seed=0
    )


def test_seeds_may_come_with_data_of_their_own():
    grid = Grid(name="a", dataset="manifold_124", seeds=3, vary={"n_qubits": (2,)}, new_data=True)
    assert [(task.seed, task.data_seed) for task in grid.tasks()] == [(0, 0), (1, 1), (2, 2)]


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_designs_are_what_they_write(name):
    design = read_design(name)
    assert design.name == name
    stored = json.loads(json.dumps(design.to_json()))
    assert tuple(Grid(name=each, **fields) for each, fields in stored["grids"].items()) == design.grids


def test_the_paper_s_grid_has_all_that_the_paper_varies():
    grid = next(grid for grid in read_design("paper").grids if grid.name == "paper")
    assert dict(grid.vary) == {
        "n_qubits": tuple(range(2, 14)),
        "init_small": (True, False),
        "init_strategy": ("default", "wx+b=0"),
        "regularised": (True, False),
    }
    assert grid.dataset == "manifold"


def test_the_default_study_goes_past_the_paper():
    first, second = map(read_design, DEFAULT)
    together = first + second
    assert len(together.tasks()) == len(first.tasks()) + len(second.tasks())
    sizes = {size for grid in together.grids for size in grid.values("n_qubits")}
    assert set(range(2, 14)) | {18, 124, 1000} <= sizes


def test_a_design_can_be_narrowed(design):
    few = design.with_(qubits=Sizes.parse("3-9"), seeds=1, models=("quack", "vc"))
    assert {dict(task.settings)["n_qubits"] for task in few.tasks()} == {3}
    assert {dict(task.settings)["model"] for task in few.tasks()} == {"quack", "vc"}
    assert len(few.tasks()) == 4
    assert design.with_() == design


def test_grids_without_any_of_the_sizes_are_left_out():
    kept = read_design("wide").with_(qubits=Sizes.parse("100-2000"))
    assert [grid.name for grid in kept.grids] == ["shallow_1", "shallow_2"]


@pytest.mark.parametrize("text", ["5", "20-30"])
def test_sizes_that_a_design_does_not_have_are_refused(design, text):
    with pytest.raises(InvalidInputError, match="only of 2, 3"):
        design.with_(qubits=Sizes.parse(text))


def test_models_that_cannot_be_so_wide_are_refused():
    with pytest.raises(InvalidInputError, match=r"^vc .* 20 qubits"):
        read_design("wide").with_(models=("vc",))


def test_sizes_are_numbers_and_ranges():
    sizes = Sizes.parse("2-4, 124")
    assert [size for size in range(200) if size in sizes] == [2, 3, 4, 124]


@pytest.mark.parametrize("text", ["", "a", "3-", "-3", "5-2", "1.5", "2-3-4"])
def test_other_texts_are_no_sizes(text):
    with pytest.raises(InvalidInputError, match="qubits must be"):
        Sizes.parse(text)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "init_small = [true, false]",
            "init_smal = [true]",
            "mine.toml:9: .*'init_smal'",
        ),
        ("init_small = [true, false]", "init_small = true", "mine.toml:9: grids.small.vary.init_small .*list"),
        ("init_small = [true, false]", "init_small = [1]", "mine.toml:9: init_small .* 1"),
        ("n_qubits = [2, 3]", "n_qubits = []", "mine.toml:8: n_qubits "),
        ("epochs = 4", "epochs = -4", "mine.toml:12: epochs .*-4"),
        ("epochs = 4", "n_qubits = 4", "mine.toml:8: n_qubits "),
        ("seeds = 2", "seeds = 0", "mine.toml:5: seeds .* 0"),
        ("seeds = 2", 'seeds = "two"', "mine.toml:5: grids.small.seeds .*'two'"),
        ("seeds = 2", "seed = 2", "mine.toml:5: .*'grids.small.seed'; .* seeds"),
        ("seeds = 2\n", "", "mine.toml:3: .*'grids.small.seeds'"),
        ('dataset = "manifold"', 'dataset = "manifolds"', "mine.toml:4: .*manifold"),
        ('name = "mine"\n', "", "mine.toml:1: .*'name'"),
        ("[grids.small]", "[grids.small", "valid TOML"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(old, new, message):
    with pytest.raises(InvalidInputError, match=message):
        design_from_text(TEXT.replace(old, new), called="mine.toml")


def test_a_design_of_the_user_s_is_read_from_its_file(tmp_path, design):
    path = tmp_path / "mine.toml"
    path.write_text(TEXT)
    assert read_design(path) == design


def test_unknown_designs_are_refused():
    with pytest.raises(InvalidInputError, match="paper"):
        read_design("papers")


def test_grids_have_different_names(design):
    with pytest.raises(InvalidInputError, match="all different"):
        Design(name="twice", grids=design.grids * 2)


def test_wider_deeper_and_longer_runs_are_more_work():
    def of(**settings):
        return Task.of("manifold", PROBE, settings)

    for more, less in (
        ({"n_qubits": 9}, {"n_qubits": 8}),
        ({"n_repetitions": 2}, {}),
        ({"epochs": 2}, {"epochs": 1}),
        ({"epochs": 1}, {"epochs": 1, "n_train": 100}),
        ({"n_qubits": 500, "n_layers": 2}, {"n_qubits": 500, "n_layers": 1}),
    ):
        assert work(of(**more)) > work(of(**less))
        assert seconds(of(**more)) > seconds(of(**less))
