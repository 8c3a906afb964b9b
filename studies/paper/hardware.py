"""The paper's experiment on 124 qubits of two devices, beside its noisy simulation."""

import statistics
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from mcquack.bench.store import Store
from mcquack.circuits.feature_map import FeatureMap
from mcquack.datasets import describe, load
from mcquack.datasets.real_world.drawing import MANIFOLD_DIMENSION
from mcquack.errors import McQuackError
from mcquack.hardware.layout import best_ring
from mcquack.hardware.native import n_angles, native_gates
from mcquack.hardware.sampler import device_coupling
from mcquack.report.device import plot_bitflip_calibration, plot_device_ring
from mcquack.report.document import Picture
from mcquack.simulators.noise import AACHEN, PITTSBURGH
from mcquack.studies.hardware_twin import CONTENDERS, N_MANIFOLDS, contender, manifold_name
from mcquack.training import total_shots
from studies.paper.checks import Check, claim_check, equal_check, score_check
from studies.paper.exhibit import Exhibit, Pair, table
from studies.paper.items import ITEMS, values
from studies.paper.sources import Sources

MODELS: Mapping[str, tuple[str, str]] = {
    "svc": ("SVC", "svc"),
    "pittsburgh": ("McQuack, Pittsburgh", contender("none", "pittsburgh", "paper")),
    "simple_kernel": ("SimpleKernel", "centroid_kernel"),
    "aachen": ("McQuack, Aachen", contender("none", "aachen", "paper")),
}
"""What people call the paper's models, and the names of ours in the suite, by the names in values.toml."""

SNAPSHOT = "fake_aachen"  # IBM's record of the device, in qiskit-ibm-runtime
_DATASET = "manifold_124"


def exhibits(sources: Sources) -> Iterator[Exhibit]:
    """All items about hardware, in the order of the page."""
    yield sources.exhibit("hardware_results", result_exhibit)
    yield device_exhibit()
    yield layout_exhibit()
    yield sources.exhibit("calibration", calibration_exhibit)
    yield dataset_exhibit()
    yield cost_exhibit()


@dataclass(frozen=True)
class Accuracies:
    """Test accuracies of one model by dataset, of all runs, and the tolerances that its runs have chosen."""

    by_dataset: dict[str, list[float]] = field(default_factory=dict)
    tolerances: list[int] = field(default_factory=list)

    @property
    def mean(self) -> float:
        return statistics.fmean(each for runs in self.by_dataset.values() for each in runs)

    @property
    def spread(self) -> float:
        """The standard deviation between datasets; of the runs, if there is only one dataset."""
        means = [statistics.fmean(runs) for runs in self.by_dataset.values()]
        return statistics.pstdev(means if len(means) > 1 else next(iter(self.by_dataset.values())))


def accuracies(store: Store) -> dict[str, Accuracies]:
    """Of every model on the datasets with the paper's 50 test samples, by the name of the model in its module."""
    wanted = {manifold_name(seed) for seed in range(N_MANIFOLDS)}
    found: dict[str, Accuracies] = {}
    for outcome in store.final_outcomes():
        dataset, model = (name.rpartition(":")[2] for name in (outcome.task.dataset, outcome.task.model))
        accuracy = outcome.score("test", "accuracy")
        if dataset not in wanted or accuracy is None:
            continue
        of_model = found.setdefault(model, Accuracies())
        of_model.by_dataset.setdefault(dataset, []).append(accuracy)
        tolerance = outcome.details.get("history", {}).get("tolerance") or []
        of_model.tolerances.extend(int(each) for each in tolerance[-1:] if each is not None)
    return found


def result_exhibit(store: Store) -> Exhibit:
    """Accuracies of the four models, the paper's of one draw of the dataset and ours of several."""
    found, checks, rows = accuracies(store), [], []
    for key, runs in values()["hardware"]["accuracies"].items():
        title, name = MODELS[key]
        paper = statistics.fmean(runs), statistics.pstdev(runs)
        mine = found.get(name)
        ours = None if mine is None else (mine.mean, mine.spread)
        n_parts = 1 if mine is not None and len(mine.by_dataset) > 1 else 2
        check = score_check(title, paper, ours, n_test=values()["hardware"]["dataset"]["n_test"], n_parts=n_parts)
        checks.append(check)
        told = "; ".join(
            f"{dataset}: {', '.join(f'{each:.2f}' for each in of_one)}"
            for dataset, of_one in ({} if mine is None else mine.by_dataset).items()
        )
        mean, spread = ours or (None, None)
        pair = Pair(ours=mean, spread=spread, paper=round(paper[0], 10), holds=check.holds)
        rows.append((title, pair, ", ".join(f"{each:.2f}" for each in runs), told or "–"))
    heads = ("model", "accuracy", "the paper's runs", "our datasets and runs")
    sheet = table("hardware_results", "Accuracy, and below it the paper's", heads, rows)
    n_datasets = max((len(each.by_dataset) for each in found.values()), default=0)
    return Exhibit(
        item=ITEMS["hardware_results"],
        checks=tuple(checks),
        findings=(f"Ours are means over {n_datasets} draws of the dataset, ± the standard deviation between them.",),
        tables=(sheet,),
    )


def device_exhibit() -> Exhibit:
    """What the noise model takes of the devices, and the gates of the circuit."""
    told = values()["hardware"]
    checks = [
        equal_check(f"{device}: {_DEVICE_NAMES[name]}", number, getattr(calibration, name))
        for device, calibration in (("Pittsburgh", PITTSBURGH), ("Aachen", AACHEN))
        for name, number in told[device.lower()].items()
    ]
    feature_map = experiment_map()
    size, angles = (feature_map.n_qubits, feature_map.n_layers), [0.0] * n_angles(feature_map)
    gates = Counter(gate.name for gate in native_gates(*size, angles))
    circuit = {
        "rz": ("RZ gates", gates["rz"]),
        "sx": ("SX gates", gates["sx"]),
        "cz": ("CZ gates", gates["cz"]),
        "measure": ("measured qubits", feature_map.n_qubits),
        "weights": ("weights", feature_map.n_weights),
        "biases": ("biases", feature_map.n_bias),
        "centroid_parameters": ("parameters of the centroids", 2 * feature_map.n_features),
        "shots": ("shots for each circuit", CONTENDERS[MODELS["pittsburgh"][1]]().shots),
    }
    checks += [equal_check(f"circuit: {what}", told["circuit"][key], ours) for key, (what, ours) in circuit.items()]
    return Exhibit(item=ITEMS["device"], checks=tuple(checks))


_DEVICE_NAMES = {
    "two_qubit_error": "median CZ error",
    "sx_error": "median SX error",
    "readout_error": "median readout error",
    "t1_us": "median T1 in µs",
    "t2_us": "median T2 in µs",
}


def experiment_map() -> FeatureMap:
    """The circuit of the experiment: 124 qubits, two layers, no ring after the last rotations."""
    told = values()["hardware"]
    sizes = {"n_qubits": told["circuit"]["n_qubits"], "n_features": told["dataset"]["n_features"]}
    return FeatureMap.with_repetitions(**sizes, final_entangler=False)


def layout_exhibit() -> Exhibit:
    """The ring of 124 qubits on a snapshot of the device."""
    item, told = ITEMS["layout"], values()["hardware"]["circuit"]
    try:
        coupling = device_coupling(SNAPSHOT)
        ring = best_ring(coupling, told["n_qubits"], allow_faulty=True)
    except McQuackError as error:
        return Exhibit(item=item, missing=f"Not drawn: {' '.join(str(error).split())}")
    checks = (
        equal_check("qubits of the device", told["n_device_qubits"], coupling.n_qubits),
        equal_check("qubits of the ring", told["n_qubits"], len(set(ring.qubits))),
    )
    caption = "Ours: all qubits and couplers, those of the ring filled; what the snapshot reports as faulty is marked."
    picture = Picture("layout", "The ring on the device", caption, plot_device_ring(coupling, ring))
    notes = ("The couplers are those of IBM's snapshot of the device, calibrated on another day than the paper's.",)
    return Exhibit(item=item, checks=checks, pictures=(picture,), notes=notes)


def calibration_exhibit(store: Store) -> Exhibit:
    """The b that the runs have chosen, and the curve of one of them on each device."""
    found, paper = accuracies(store), values()["hardware"]["calibration"]["tolerance"]
    checks: list[Check] = []
    rows, pictures = [], []
    samples = load(manifold_name(0)).train
    for key in ("pittsburgh", "aachen"):
        title, name = MODELS[key]
        chosen = sorted(found[name].tolerances) if name in found else []
        ours, holds = "–", None
        if chosen:
            ours = f"{statistics.median_low(chosen)} ({chosen[0]} to {chosen[-1]})"
            rows.append((title, statistics.median_low(chosen), chosen[0], chosen[-1], len(chosen)))
            holds = chosen[0] <= paper <= chosen[-1] if key == "pittsburgh" else None
        checks.append(claim_check(f"b on {key.title()}", paper=f"b = {paper}", ours=ours, holds=holds))
        model = CONTENDERS[name](random_state=0).fit(*samples)
        caption = f"Ours: one run of the simulated {key.title()}, with the intervals that 100 shots leave."
        figure = plot_bitflip_calibration(model.calibration_)  # type: ignore[arg-type]  # this rule calibrates
        pictures.append(Picture(f"calibration_{key}", f"Calibration of b, {key.title()}", caption, figure))
    sheet = table(
        "calibration",
        "The b that our runs have chosen",
        ("model", "median b", "smallest", "largest", "runs"),
        rows,
    )
    notes = ("The paper took the b of Pittsburgh for both devices; that of Aachen is shown beside it.",)
    return Exhibit(
        item=ITEMS["calibration"], checks=tuple(checks), pictures=tuple(pictures), tables=(sheet,), notes=notes
    )


def dataset_exhibit() -> Exhibit:
    """The sizes of the experiment's dataset, as it is drawn here."""
    told, known, drawn = values()["hardware"]["dataset"], describe(_DATASET), load(_DATASET)
    X = drawn.train.X
    sizes = {
        "manifold_dimension": ("dimensions of the manifold", MANIFOLD_DIMENSION),
        "n_features": ("features", known.n_features),
        "low": ("smallest value", round(float(X.min()), 6)),
        "high": ("largest value", round(float(X.max()), 6)),
        "n_train": ("training samples", known.sizes["train"]),
        "n_test": ("test samples", known.sizes["test"]),
    }
    checks = tuple(equal_check(what, told[key], ours) for key, (what, ours) in sizes.items())
    return Exhibit(item=ITEMS["hardware_dataset"], checks=checks)


def cost_exhibit() -> Exhibit:
    """Shots and hours of one epoch of parameter shift for the experiment's circuit."""
    told = values()["hardware"]
    sizes = {"n_train": told["dataset"]["n_train"], "n_shots": told["circuit"]["shots"]}
    shots = total_shots(experiment_map(), n_classes=2, **sizes)
    hours = shots * told["cost"]["seconds_per_shot"] / 3600
    checks = (
        Check(
            what="shots of one epoch",
            paper=f"{told['cost']['shots'] / 1e8:.1f}·10⁸",
            ours=f"{shots / 1e8:.3f}·10⁸",
            holds=f"{shots:.1e}" == f"{told['cost']['shots']:.1e}",
        ),
        Check(
            what="hours of one epoch",
            paper=f"{told['cost']['hours']:,}",
            ours=f"{hours:,.1f}",
            holds=round(hours) == told["cost"]["hours"],
        ),
    )
    return Exhibit(item=ITEMS["shot_cost"], checks=checks)
