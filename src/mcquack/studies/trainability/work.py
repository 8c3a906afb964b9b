"""How much there is to do for a task, before it is done."""

from mcquack.bench.samples import describe
from mcquack.bench.task import Task
from mcquack.circuits.feature_map import FeatureMap
from mcquack.studies.trainability.settings import ProbeSettings

# Passes of a sample through the circuit that a step costs: there, and about three times as long back.
_STEP = 4
_ROWS_OF_AN_ENTRY = 20  # two rows, each of which takes a whole block of lanes
# What it takes to tell of shots and of states by chance, up to the qubits to which either is told.
_ROWS_OF_FACTS = 1500
# What a gate costs in amplitudes on a ring: one sample with one centroid, at one layer.
_RING_GATE = 350
# Measured on one core of a common machine: amplitudes times gates in a second, there or back.
PER_SECOND = 6e9
OVERHEAD_SECONDS = 0.15
# States that no cache holds are waited for.
_CACHED_QUBITS = 14
_UNCACHED = 3.5


def work(task: Task) -> float:
    """Gates times amplitudes times rows, as a number to compare tasks by."""
    settings = ProbeSettings(**dict(task.settings))
    known = describe(task.dataset)
    feature_map = settings.feature_map(known.n_features)
    n_train = min(settings.n_train or known.sizes["train"], known.sizes["train"])
    batch = min(settings.batch_size, n_train)
    trained = settings.epochs * n_train * (_STEP + 2)
    # Gradients are in double precision, which takes twice as long.
    rows = trained + 2 * _STEP * (batch + _ROWS_OF_AN_ENTRY * settings.n_entries)
    rows += 2 * settings.landscape**2 * batch
    rows += _ROWS_OF_FACTS if settings.n_qubits <= _CACHED_QUBITS and not settings.is_variational else 0
    rows += sum(known.sizes.get(part, 0) for part in ("train", "test"))
    return rows * _gate_work(settings, feature_map)


def seconds(task: Task) -> float:
    """About how long it takes on one core; machines differ by a factor of a few."""
    return OVERHEAD_SECONDS + work(task) / PER_SECOND


def _gate_work(settings: ProbeSettings, feature_map: FeatureMap) -> float:
    """Of one row."""
    n_gates = feature_map.n_layers * feature_map.n_qubits
    if settings.runs_on == "ring":
        return float(n_gates * _RING_GATE * 4 ** (2 * feature_map.n_layers - 2))
    n_circuits = 2 if settings.is_variational else 1
    waiting = _UNCACHED if feature_map.n_qubits > _CACHED_QUBITS else 1.0
    return waiting * n_circuits * n_gates * float(2**feature_map.n_qubits)
