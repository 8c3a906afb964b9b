"""Feature maps from the literature, each for any number of qubits and of features, and all of them by name.

A layer has a place for one feature on each qubit, and as in the paper the features are counted through: place q of
layer l takes feature (l·n + q) mod d. A repetition has so many layers, ceil(d / n), that every feature enters.

Published maps often have no parameters. With ``trainable=True`` the factors of their features become weights that start
at the published values, and rotations by trained angles, which start at 0, stand before the features of each layer:
with its parameters at their starts, as ``QuantumKernel`` has them, such a map is the published one. Models begin with
small random numbers around the starts, or with ones for ``init_small=False``. The rotations stand before, as gates that
are the same for all samples and follow the last feature change no fidelity. ``trainable=False`` gives the published map
itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from mcquack.checks import did_you_mean, require, required_count
from mcquack.circuits.angles import Angle, angle_of, arccos, b, pi_minus, w, x
from mcquack.circuits.circuit import Circuit
from mcquack.circuits.feature_map import FeatureMap
from mcquack.circuits.gates import Pairs, all_to_all, line, once, ring
from mcquack.errors import InvalidInputError

Entangler: TypeAlias = Literal["ring", "line", "all_to_all"] | Iterable[tuple[int, int]]
PAPER_LAYERS = 20
"""How many layers the maps of McQuack and Quack have at least if nobody says how often features are repeated."""
LAYERS = 6
"""The same for the maps that were published with any number of layers."""

_ENTANGLERS: Mapping[str, Callable[[int], Pairs]] = {"ring": ring, "line": line, "all_to_all": all_to_all}


def paper(
    n_features: int,
    n_qubits: int = 6,
    *,
    n_repetitions: int | None = None,
    final_entangler: bool = True,
    features_per_gate: Literal[1, 3] = 1,
) -> FeatureMap:
    """The map of McQuack: Rot(w·x + b) with one feature for each gate, and rings of CNOTs.

    Parameters
    ----------
    n_features, n_qubits : Features of a sample, and qubits.
    n_repetitions : How often every feature enters; None is as often as makes at least 20 layers.
    final_entangler : Whether there is a ring behind the last rotations, which changes no fidelity.
    features_per_gate : 3 lets the three angles of a gate take successive features; see :func:`quack`.

    Examples
    --------
    >>> paper(14, n_repetitions=1).n_layers, paper(14).n_layers
    (3, 21)
    """
    made = FeatureMap.with_repetitions(
        n_qubits=n_qubits,
        n_features=n_features,
        final_entangler=final_entangler,
        features_per_gate=features_per_gate,
    )
    return replace(made, n_layers=_n_layers(made.n_layers, n_repetitions, least=PAPER_LAYERS))


def device(n_features: int, n_qubits: int = 6, *, n_repetitions: int | None = None) -> FeatureMap:
    """The map of McQuack as devices run it: without a ring behind the last rotations; see :func:`paper`.

    >>> device(6, n_repetitions=1).counts
    {'rot': 6}
    """
    return paper(n_features, n_qubits, n_repetitions=n_repetitions, final_entangler=False)


def quack(n_features: int, n_qubits: int = 6, *, n_repetitions: int | None = None) -> FeatureMap:
    """The map of Quack, McQuack's predecessor: the three angles of a gate take successive features; see :func:`paper`.

    >>> quack(36, n_repetitions=1).n_layers
    2
    """
    return paper(n_features, n_qubits, n_repetitions=n_repetitions, features_per_gate=3)


def pauli(
    n_features: int,
    n_qubits: int = 6,
    *,
    n_repetitions: int = 2,
    words: Sequence[str] = ("Z", "YY"),
    entangler: Entangler = "all_to_all",
    trainable: bool = True,
) -> Circuit:
    """The Pauli maps of Havlíček et al., Nature 567 (2019) 209: H on all qubits, then exp(-i φ(x) P) for each word P.

    φ is x of a word of one letter, and the product of all π - x of a longer one.

    Parameters
    ----------
    n_features, n_qubits : Features of a sample, and qubits.
    n_repetitions : How often every feature enters; the source has 2.
    words : Words of the letters X, Y and Z. A word of one letter acts on each qubit, one of two on each pair of the
        entangler, and a longer one on each set of so many qubits, its first letter on the first of them.
    entangler : "ring", "line", "all_to_all", or pairs of qubits such as the couplings of a device.
    trainable : Whether factors start at the published values and are trained, and RY(b) stands after each H.

    Examples
    --------
    >>> pauli(2, 2, n_repetitions=1, words=("Z", "YY"), trainable=False).counts
    {'h': 2, 'rz': 2, 'ryy': 1}
    >>> pauli(2, 2, n_repetitions=1).weight_starts.tolist()
    [2.0, 2.0, 2.0]
    """
    known = _is_list(words) and all(isinstance(word, str) and word and set(word) <= set("XYZ") for word in words)
    require(known, "words", 'words such as ("Z", "YY")', words)
    pairs = once(_pairs(entangler, n_qubits))
    made = Circuit(n_qubits, n_features)
    features: set[int] = set()
    for layer in _layers(n_features, n_qubits, n_repetitions):
        made = _mixed(made.h(range(n_qubits)), trainable=trainable)
        for word in words:
            places = pairs if len(word) == 2 else list(combinations(range(n_qubits), len(word)))
            function = pi_minus if len(word) > 1 else angle_of
            inputs = [[function(x[layer[qubit]]) for qubit in qubits] for qubits in places]
            made = _with_word(made, word, places, [_scaled(2.0, own, trainable=trainable) for own in inputs])
            features.update(layer[qubit] for qubits in places for qubit in qubits)
    if len(features) < n_features:
        raise InvalidInputError(
            f"the words {', '.join(words)} on {n_qubits} qubits leave out {n_features - len(features)} of {n_features} "
            'features; add a word of one letter, "Z" for instance.'
        )
    return made


def zz(
    n_features: int,
    n_qubits: int = 6,
    *,
    n_repetitions: int = 2,
    entangler: Entangler = "all_to_all",
    trainable: bool = True,
) -> Circuit:
    """The ZZ map of Havlíček et al., Nature 567 (2019) 209: the Pauli map of the words Z and ZZ; see :func:`pauli`.

    >>> print(zz(2, 2, n_repetitions=1, trainable=False))
    2 qubits, 2 features, 5 gates, depth 3, 0 parameters
    q0: ─┤ H ├─┤ RZ(2·x0) ├─┤ RZZ(2·(π-x0)·(π-x1)) ├─
                                       │
    q1: ─┤ H ├─┤ RZ(2·x1) ├─────────┤ RZZ ├──────────
    """
    return pauli(
        n_features,
        n_qubits,
        n_repetitions=n_repetitions,
        words=("Z", "ZZ"),
        entangler=entangler,
        trainable=trainable,
    )


def iqp(
    n_features: int,
    n_qubits: int = 6,
    *,
    n_repetitions: int = 2,
    entangler: Entangler = "all_to_all",
    trainable: bool = True,
) -> Circuit:
    """An IQP map as of Huang et al., Nature Communications 12 (2021) 2631: H, then RZ(x) and RZZ(x·x').

    The factors are those of PennyLane's ``IQPEmbedding``.

    Parameters
    ----------
    n_features, n_qubits : Features of a sample, and qubits.
    n_repetitions : How often every feature enters; the source has 2.
    entangler : "ring", "line", "all_to_all", or pairs of qubits such as the couplings of a device.
    trainable : Whether factors start at the published values and are trained, and RY(b) stands after each H.

    Examples
    --------
    >>> iqp(3, 3, n_repetitions=1, trainable=False).counts
    {'h': 3, 'rz': 3, 'rzz': 3}
    """
    pairs = once(_pairs(entangler, n_qubits))
    made = Circuit(n_qubits, n_features)
    for layer in _layers(n_features, n_qubits, n_repetitions):
        made = _mixed(made.h(range(n_qubits)), trainable=trainable)
        made = made.rz(range(n_qubits), [_scaled(1.0, [x[feature]], trainable=trainable) for feature in layer])
        made = made.rzz(pairs, [_scaled(1.0, [x[layer[p]], x[layer[q]]], trainable=trainable) for p, q in pairs])
    return made


def hardware_efficient(
    n_features: int,
    n_qubits: int = 6,
    *,
    n_repetitions: int | None = None,
    rotations: Sequence[str] = ("ry", "rz"),
    gate: Literal["cz", "cnot"] = "cz",
    entangler: Entangler = "ring",
) -> Circuit:
    """The hardware-efficient circuit of Kandala et al., Nature 549 (2017) 242, each of whose angles is w·x + b.

    Layers of rotations have an entangler between them. Weights start at 1 / n_repetitions, so that all gates that take
    a feature turn by x together, and biases at 0.

    Parameters
    ----------
    n_features, n_qubits : Features of a sample, and qubits.
    n_repetitions : How often every feature enters; None is as often as makes at least 6 layers.
    rotations : The rotations on each qubit, of "rx", "ry" and "rz".
    gate : What entangles, "cz" or "cnot".
    entangler : "ring", "line", "all_to_all", or pairs of qubits such as the couplings of a device.

    Examples
    --------
    >>> hardware_efficient(4, 4, n_repetitions=2, entangler=[(0, 1), (1, 2), (1, 3)], gate="cnot").counts
    {'ry': 8, 'rz': 8, 'cnot': 3}
    """
    known = _is_list(rotations) and all(isinstance(name, str) and name in ("rx", "ry", "rz") for name in rotations)
    require(known, "rotations", 'some of "rx", "ry" and "rz"', rotations)
    require(set(rotations) - {"rz"}, "rotations", "more than RZ, which leaves |0⟩ as it is", rotations)
    require(isinstance(gate, str) and gate in ("cz", "cnot"), "gate", '"cz" or "cnot"', gate)
    pairs = _pairs(entangler, n_qubits)
    pairs = once(pairs) if gate == "cz" else pairs
    made = Circuit(n_qubits, n_features)
    layers = _layers(n_features, n_qubits, n_repetitions)
    for number, layer in enumerate(layers):
        if number:
            made = getattr(made, gate)(pairs)
        for name in rotations:
            made = getattr(made, name)(range(n_qubits), _affine(layer, start=_share(layers, n_features)))
    return made


def reuploading(n_features: int, n_qubits: int = 6, *, n_repetitions: int | None = None) -> Circuit:
    """Data re-uploading of Pérez-Salinas et al., Quantum 4 (2020) 226: layers of Rot(w·x + b), and CZ between them.

    CZ joins neighbours on a ring, the even pairs after the even layers and the odd ones after the odd. Weights start at
    1 / n_repetitions, so that all gates that take a feature turn by x together, and biases at 0.

    Parameters
    ----------
    n_features, n_qubits : Features of a sample, and qubits.
    n_repetitions : How often every feature enters; None is as often as makes at least 6 layers.

    Examples
    --------
    >>> reuploading(4, 4, n_repetitions=3).counts
    {'rot': 12, 'cz': 4}
    """
    made = Circuit(n_qubits, n_features)
    pairs = once(ring(made.n_qubits))
    layers = _layers(n_features, n_qubits, n_repetitions)
    for number, layer in enumerate(layers):
        if number:
            made = made.cz(pairs if len(pairs) == 1 else pairs[(number - 1) % 2 :: 2])
        angles = _affine(layer, start=_share(layers, n_features))
        made = made.rot(range(n_qubits), angles, angles, angles)
    return made


def chebyshev(
    n_features: int, n_qubits: int = 6, *, n_repetitions: int | None = None, trainable: bool = True
) -> Circuit:
    """The Chebyshev tower of Kyriienko et al., Physical Review A 103 (2021) 052416: RY(2·k·arccos(x)).

    A feature that stands on several qubits of a layer has the degree k = 1 on the first of them, 2 on the second and so
    on. Features are expected in [-1, 1]. Between the layers are Rot(b, b, b) and a ring of CNOTs.

    Parameters
    ----------
    n_features, n_qubits : Features of a sample, and qubits.
    n_repetitions : How often every feature enters; None is as often as makes at least 6 layers.
    trainable : Whether the factors 2·k are trained, and not only the rotations between layers.

    Examples
    --------
    >>> print(chebyshev(1, 3, n_repetitions=1, trainable=False))
    3 qubits, 1 feature, 3 gates, depth 1, 0 parameters
    q0: ─┤ RY(2·arccos(x0)) ├─
    <BLANKLINE>
    q1: ─┤ RY(4·arccos(x0)) ├─
    <BLANKLINE>
    q2: ─┤ RY(6·arccos(x0)) ├─
    """
    made = Circuit(n_qubits, n_features)
    for number, layer in enumerate(_layers(n_features, n_qubits, n_repetitions)):
        if number:
            made = made.rot(range(n_qubits), b, b, b).cnot(ring(n_qubits))
        degrees = [1 + layer[:place].count(feature) for place, feature in enumerate(layer)]
        towers = zip(degrees, layer, strict=True)
        angles = [_scaled(2.0 * degree, [arccos(x[feature])], trainable=trainable) for degree, feature in towers]
        made = made.ry(range(n_qubits), angles)
    return made


def hubregtsen(
    n_features: int, n_qubits: int = 6, *, n_repetitions: int | None = None, trainable: bool = True
) -> Circuit:
    """The map of Hubregtsen et al., Physical Review A 106 (2022) 042431: H, RZ(x), RY(b), and a ring of CRZ(b).

    Parameters
    ----------
    n_features, n_qubits : Features of a sample, and qubits.
    n_repetitions : How often every feature enters; None is as often as makes at least 6 layers.
    trainable : Whether the factors of the features, which start at 1, are trained as the angles of RY and CRZ are.

    Examples
    --------
    >>> hubregtsen(3, 3, n_repetitions=1).counts
    {'h': 3, 'rz': 3, 'ry': 3, 'crz': 3}
    """
    made = Circuit(n_qubits, n_features)
    for layer in _layers(n_features, n_qubits, n_repetitions):
        made = made.h(range(n_qubits))
        made = made.rz(range(n_qubits), [_scaled(1.0, [x[feature]], trainable=trainable) for feature in layer])
        made = made.ry(range(n_qubits), b).crz(ring(n_qubits), b)
    return made


def amplitude(
    n_features: int,
    n_qubits: int = 6,
    *,
    n_repetitions: int | None = None,
    padding: float | None = None,
    trainable: bool = True,
) -> Circuit:
    """Amplitude encoding (Schuld and Killoran, Physical Review Letters 122 (2019) 040504), then trainable layers.

    The features are amplitudes of the first state, divided by their norm. Gates that are the same for all samples would
    change no fidelity of such states, so the layers are those of a re-uploading map, RY and RZ of w·x + b and rings of
    CNOTs between them, whose weights and biases start at 0.

    Parameters
    ----------
    n_features : Features of a sample.
    n_qubits : Qubits; as many more are taken as it needs for 2**n to be at least ``n_features``.
    n_repetitions : How often every feature enters the layers; None is as often as makes at least 6 layers.
    padding : What amplitudes that no feature has are before the norm is taken. None gives all of them together the norm
        1, so that samples of different length have different states; 0.0 is the published map.
    trainable : Whether there are layers.

    Examples
    --------
    >>> amplitude(8, 3, n_repetitions=1).counts
    {'ry': 9, 'rz': 9, 'cnot': 6}
    >>> amplitude(9, 2, trainable=False).n_qubits
    4
    """
    n_qubits = max(required_count("n_qubits", n_qubits), (required_count("n_features", n_features) - 1).bit_length())
    empty = (1 << n_qubits) - n_features
    if padding is None:
        padding = 1 / math.sqrt(empty) if empty else 0.0
    made = Circuit(n_qubits, n_features, start="amplitudes", padding=padding)
    for number, layer in enumerate(_layers(n_features, n_qubits, n_repetitions) if trainable else []):
        if number:
            made = made.cnot(ring(n_qubits))
        angles = _affine(layer, start=0.0)
        made = made.ry(range(n_qubits), angles).rz(range(n_qubits), angles)
    return made


_BUILDERS: tuple[Callable[..., Circuit], ...] = (
    paper,
    device,
    quack,
    zz,
    pauli,
    iqp,
    hardware_efficient,
    reuploading,
    chebyshev,
    hubregtsen,
    amplitude,
)
MAPS: Mapping[str, Callable[..., Circuit]] = MappingProxyType({builder.__name__: builder for builder in _BUILDERS})
"""All maps by name. A builder takes n_features, n_qubits and n_repetitions, and what it has beside them by keyword."""


def circuit_named(name: str, *, n_features: int, n_qubits: int = 6, n_repetitions: int | None = None) -> Circuit:
    """The map of a name in :data:`MAPS`, with the settings of its builder but for these.

    Parameters
    ----------
    name : "paper", "zz" and so on.
    n_features, n_qubits : Features of a sample, and qubits.
    n_repetitions : How often every feature enters; None leaves it to the builder.

    Examples
    --------
    >>> circuit_named("iqp", n_features=4, n_qubits=2).counts
    {'h': 8, 'ry': 8, 'rz': 8, 'rzz': 4}
    """
    if not isinstance(name, str) or name not in MAPS:
        hint = did_you_mean(name, MAPS, otherwise=f"there are {', '.join(MAPS)}.")
        raise InvalidInputError(f"there is no feature map called {name!r}: {hint}")
    chosen: dict[str, Any] = {} if n_repetitions is None else {"n_repetitions": n_repetitions}
    return MAPS[name](n_features, n_qubits, **chosen)


@dataclass(frozen=True)
class Sized:
    """Makes a map of :data:`MAPS` with so many repetitions that it has about a given number of parameters.

    Maps that differ in what a repetition has can so be compared at the same size:
    ``McQuackClassifier(feature_map=Sized("iqp", 720))``. A repetition has all features, so it cannot have fewer
    parameters than one repetition has; of two numbers of repetitions that are equally close it takes the smaller one.

    Parameters
    ----------
    name : "paper", "zz" and so on.
    n_parameters : How many weights and biases to come close to.
    n_qubits : Qubits.

    Examples
    --------
    >>> [Sized(name, 100, n_qubits=4)(8).n_embedding_parameters for name in ("paper", "iqp", "hubregtsen")]
    [96, 112, 96]
    """

    name: str
    n_parameters: int
    n_qubits: int = 6

    def __post_init__(self) -> None:
        required_count("n_parameters", self.n_parameters)

    def __call__(self, n_features: int) -> Circuit:
        """The map for so many features."""
        once, twice = (self._repeated(n_features, times).n_embedding_parameters for times in (1, 2))
        # Each repetition adds as many as the second.
        wanted = (self.n_parameters - once) / (twice - once)
        return self._repeated(n_features, 1 + max(0, math.ceil(wanted - 0.5)))

    def _repeated(self, n_features: int, n_repetitions: int) -> Circuit:
        return circuit_named(self.name, n_features=n_features, n_qubits=self.n_qubits, n_repetitions=n_repetitions)


def _n_layers(once_through: int, n_repetitions: int | None, *, least: int) -> int:
    """The layers of so many repetitions, or of as many as make at least ``least``."""
    if n_repetitions is None:
        n_repetitions = math.ceil(least / once_through)
    return required_count("n_repetitions", n_repetitions) * once_through


def _layers(n_features: int, n_qubits: int, n_repetitions: int | None) -> list[list[int]]:
    """The features on all qubits, for each layer."""
    n, d = required_count("n_qubits", n_qubits), required_count("n_features", n_features)
    n_layers = _n_layers(math.ceil(d / n), n_repetitions, least=LAYERS)
    return [[(number * n + qubit) % d for qubit in range(n)] for number in range(n_layers)]


def _share(layers: list[list[int]], n_features: int) -> float:
    """1 / n_repetitions, where so many layers take every feature once."""
    return math.ceil(n_features / len(layers[0])) / len(layers)


def _is_list(values: Any) -> bool:
    return isinstance(values, Sequence) and not isinstance(values, str) and len(values) > 0


def _pairs(entangler: Entangler, n_qubits: int) -> Pairs:
    """The pairs of qubits that an entangler joins: by a name, or as they are given."""
    if isinstance(entangler, str):
        if entangler not in _ENTANGLERS:
            hint = did_you_mean(entangler, _ENTANGLERS, otherwise=f"there are {', '.join(_ENTANGLERS)}.")
            raise InvalidInputError(f"there is no entangler called {entangler!r}: {hint}")
        return _ENTANGLERS[entangler](required_count("n_qubits", n_qubits))
    pairs = Circuit(n_qubits, 1).cz(entangler).gates  # which refuses whatever is no pair of qubits
    return [(first, second) for first, second in (gate.qubits for gate in pairs)]


def _affine(layer: list[int], *, start: float) -> list[Angle]:
    return [w(start=start) * x[feature] + b for feature in layer]


def _scaled(factor: float, inputs: Sequence[Angle], *, trainable: bool) -> Angle:
    """The product of the inputs, times a factor or times a weight that starts there."""
    angle = w(start=factor) * inputs[0] if trainable else factor * inputs[0]
    for other in inputs[1:]:
        angle = angle * other
    return angle


def _mixed(circuit: Circuit, *, trainable: bool) -> Circuit:
    return circuit.ry(range(circuit.n_qubits), b) if trainable else circuit


def _with_word(circuit: Circuit, word: str, places: Sequence[tuple[int, ...]], angles: Sequence[Angle]) -> Circuit:
    """exp(-i/2 angle P) on each of the places, for the product P of Pauli matrices that the word says."""
    if word in ("X", "Y", "Z", "XX", "YY", "ZZ"):
        rotation: Callable[..., Circuit] = getattr(circuit, f"r{word.lower()}")
        return rotation([place[0] for place in places] if len(word) == 1 else places, angles)
    for place, angle in zip(places, angles, strict=True):
        # In a basis where all letters are Z, a ladder of CNOTs brings the parity to the last qubit.
        changed_x, changed_y = ([place[at] for at, letter in enumerate(word) if letter == axis] for axis in "XY")
        ladder = list(pairwise(place))
        circuit = circuit.h(changed_x).rx(changed_y, math.pi / 2).cnot(ladder)
        circuit = circuit.rz(place[-1], angle).cnot(ladder[::-1])
        circuit = circuit.h(changed_x).rx(changed_y, -math.pi / 2)
    return circuit
