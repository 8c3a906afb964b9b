"""A folder of stores that nobody ran, as a study would have made them."""

from mcquack.bench.plan import Choice
from mcquack.bench.store import RunRecord, Store
from mcquack.bench.task import Outcome, Task
from mcquack.studies.hardware_twin import manifold_name
from studies.paper.stores import Stores
from tests.report.benchmark.fakes import ENVIRONMENT, fake_store
from tests.report.trainability.fakes import fake_store as fake_study
from tests.report.trainability.fakes import observations, step_observations

REAL_WORLD = ("census", "iris3", "kdd4", "mnist4", "pm2", "url")
QML = tuple(f"{family}_{n}" for family in ("hidden_manifold", "linearly_separable", "two_curves") for n in (2, 10))
TWIN = "mcquack.studies.hardware_twin"
DEVICES = {f"{TWIN}:UntrainedPittsburghPaper": 37, f"{TWIN}:UntrainedAachenPaper": 41}
HOSTILE = "<img src=x onerror=document.title='broken'>"
LABELS = (
    "algo:quack",
    "app:fig:rankings-benchmarks_datasets",
    "app:fig:scores-datasets",
    "app:fig_aachen_layout",
    "app:fig_bitflip_calibration",
    "app:tab:datasets_overview_description",
    "app:tab:datasets_overview_ratios",
    "app:tab:qml_benchmarks_hyperparams",
    "app:tab:real_world_hyperparams",
    "fig:circuit",
    "fig:fifth",
    "fig:first",
    "fig:fourth",
    "fig:full_circuit",
    "fig:hyperparam_importance_fanova",
    "fig:one_layer",
    "fig:quack_overview",
    "fig:ranking_combined",
    "fig:ranking_qml_benchmarks",
    "fig:ranking_real_world_ds",
    "fig:second",
    "fig:tab1",
    "fig:tab2",
    "fig:third",
    "fig:trainability_grads_mean_std",
    "fig:trainability_loss",
    "tab:hardware_ds_params",
    "tab:hardware_results",
    "tab:ibm_aachen_stats",
    "tab:results_real_world_ds",
)
"""The labels of all tables, figures, parts of figures and algorithms in the paper's source, sorted."""


def fake_stores(folder, *, further=True):
    """Rows of all four studies, and in the folders of two of them further stores, one with evil names."""
    stores = Stores(folder=folder)
    for study in ("real_world", "qml_suite", "hardware_twin", "trainability"):
        stores.path(study).parent.mkdir(parents=True)
    fake_store(stores.path("real_world"), datasets=REAL_WORLD, n_settings=1)
    fake_store(stores.path("qml_suite"), datasets=QML, models=("mcquack", "nystroem_svm", "svc", "mlp"), n_settings=1)
    fake_twin(stores.path("hardware_twin"))
    found = [*observations(sizes=(2, 3, 4, 5), n_seeds=2, epochs=8), *step_observations()]
    fake_study(stores.path("trainability"), found)
    if further:
        home = folder / "real_world"
        fake_store(home / "defaults.sqlite", datasets=REAL_WORLD, models=("mcquack",), n_settings=0)
        fake_store(home / "<b>race & co.sqlite", datasets=REAL_WORLD, models=(HOSTILE, "svc"), n_settings=0)
        (home / "broken.sqlite").write_text("no store")
        race = ("mcquack/tuned", "svc", "mlp")
        fake_store(folder / "qml_suite" / "race.sqlite", datasets=QML, models=race, n_settings=0)
    return stores


def fake_twin(path, *, n_datasets=2, n_runs=3):
    """Accuracies that grow by a sample of 50 from run to run, and a tolerance that grows by one."""
    with Store.open(path, create=True) as store:
        store.begin_run(RunRecord(command="mcquack bench run hardware-twin", suite={}, environment=ENVIRONMENT))
        for seed in range(n_datasets):
            dataset = f"{TWIN}:{manifold_name(seed)}"
            for model in ("svc", "centroid_kernel", *DEVICES):
                tasks = [Task.of(dataset, model, {}, seed=run) for run in range(n_runs)]
                ids = tuple(task.id for task in tasks)
                store.choose(
                    Choice(
                        dataset=dataset,
                        model=model,
                        settings={},
                        score=None,
                        metric="accuracy",
                        search="none",
                        n_settings=1,
                        task_ids=(),
                        final_ids=ids,
                    )
                )
                for run, task in enumerate(tasks):
                    store.add(_run(task, run, seed))
    return path


def _run(task, run, seed):
    first = DEVICES.get(task.model)
    details = {} if first is None else {"history": {"epoch": [0], "tolerance": [first + run + seed]}}
    accuracy = 0.80 + 0.02 * run + 0.04 * seed
    return Outcome(task=task, environment=ENVIRONMENT, scores={"test": {"accuracy": accuracy}}, details=details)
