"""The pure functions: what users of JAX do with functions works with them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mcquack.circuits import Circuit, FeatureMap, arcsin, b, line, ring, w, x
from mcquack.errors import InvalidInputError
from tests.circuit_oracles import qiskit_states
from tests.random_circuits import random_circuit

jax = pytest.importorskip("jax")
functions = pytest.importorskip("mcquack.simulators.jax.functions")
jnp = jax.numpy
DOUBLE = np.dtype(np.float64)

# Three gates that come five times, so that there is a loop to differentiate through.
LAYER = Circuit(2, 2).ry(0, w * x[0] + b).crx((0, 1), arcsin(x[1])).rxx((1, 0), w * x[0] * x[1])
CIRCUIT = LAYER.repeated(5)
DRAWS = np.random.default_rng(0)
ROWS, CENTROIDS = DRAWS.uniform(-0.9, 0.9, (3, 2)), DRAWS.uniform(-0.9, 0.9, (2, 2))
WEIGHTS, BIAS = DRAWS.normal(size=CIRCUIT.weights_shape), DRAWS.normal(size=CIRCUIT.bias_shape)


@pytest.fixture(autouse=True)
def _in_double_precision():
    with functions.precision(DOUBLE):
        yield


def alignment(weights, bias):
    return jnp.sum(jnp.sin(functions.jax_kernel(CIRCUIT)(ROWS, CENTROIDS, weights, bias)))


def test_states_are_those_of_qiskit() -> None:
    states = functions.jax_states(CIRCUIT)
    assert_allclose(states(ROWS, WEIGHTS, BIAS), qiskit_states(CIRCUIT, ROWS, WEIGHTS, BIAS), rtol=0, atol=1e-12)


def test_forward_and_reverse_mode_agree() -> None:
    states = functions.jax_states(CIRCUIT)

    def parts(bias):
        found = states(ROWS, WEIGHTS, bias)
        return jnp.stack([found.real, found.imag])

    assert_allclose(jax.jacfwd(parts)(BIAS), jax.jacrev(parts)(BIAS), rtol=0, atol=1e-12)


def test_second_derivatives_are_the_slopes_of_the_first() -> None:
    along = DRAWS.normal(size=BIAS.shape)
    gradient = jax.jit(jax.grad(alignment, argnums=1))
    _, product = jax.jvp(lambda bias: gradient(WEIGHTS, bias), (BIAS,), (along,))
    expected = (gradient(WEIGHTS, BIAS + 1e-5 * along) - gradient(WEIGHTS, BIAS - 1e-5 * along)) / 2e-5
    assert_allclose(product, expected, rtol=0, atol=1e-8)


def test_a_function_can_be_mapped_over_parameters() -> None:
    many = jnp.stack([BIAS, BIAS + 0.1])
    found = jax.vmap(alignment, in_axes=(None, 0))(WEIGHTS, many)
    assert_allclose(found, [alignment(WEIGHTS, bias) for bias in many], rtol=0, atol=1e-12)


def test_precision_is_that_of_the_samples_and_of_nothing_else() -> None:
    single = (array.astype(np.float32) for array in (ROWS, WEIGHTS, BIAS))
    assert functions.jax_states(CIRCUIT)(*single).dtype == np.complex64
    assert functions.jax_states(CIRCUIT)(ROWS, WEIGHTS, BIAS).dtype == np.complex128


def test_deeper_circuits_are_no_longer_programs() -> None:
    """What is compiled has as many instructions for 10 layers as for 200."""
    lengths = []
    for n_layers in (10, 200):
        circuit = FeatureMap(n_qubits=3, n_features=2, n_layers=n_layers)
        program, shape = functions.program_of(circuit), circuit.parameter_shape
        arrays = np.zeros((4, 2)), np.zeros(shape), np.zeros(shape)
        states = np.zeros((4, 8), complex)
        forward, back = program.states_jit.lower(*arrays), program.pulled_jit.lower(*arrays, states, states)
        lengths.append([text.as_text().count("\n") for text in (forward, back)])
    assert lengths[0] == lengths[1]


def test_whole_numbers_are_samples_too() -> None:
    states, nothing = functions.jax_states(Circuit(1, 1).ry(0, 0.5 * x[0] + b)), jnp.zeros(0)
    whole, real = (states(jnp.array([[one]]), nothing, jnp.array([0.7])) for one in (1, 1.0))
    assert_allclose(whole, real, atol=1e-6)


def test_a_kernel_curves_where_samples_meet() -> None:
    kernel, nothing = functions.jax_kernel(Circuit(1, 1).ry(0, x[0])), jnp.zeros(0)
    for point in (0.0, 0.3, 1.1):

        def value(at, point=point):
            return kernel(at[None], jnp.array([[point]]), nothing, nothing)[0, 0]

        assert_allclose(jax.hessian(value)(jnp.array([point])), [[-0.5]], atol=1e-5)


def test_wrong_shapes_are_refused() -> None:
    states = functions.jax_states(CIRCUIT)
    with pytest.raises(InvalidInputError, match=r"2 features.*\(3,\)"):
        states(np.zeros(3), WEIGHTS, BIAS)
    with pytest.raises(InvalidInputError, match="weights"):
        states(ROWS, WEIGHTS[1:], BIAS)
    with pytest.raises(InvalidInputError, match="bias"):
        states(ROWS, WEIGHTS, np.zeros((2, 2)))


# Layers that repeat are found, and nothing else is changed


def sizes(circuit: Circuit) -> list[tuple[int, int]]:
    return [(len(section.gates), section.times) for section in functions.sections(circuit.gates)]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("times", [1, 2, 7])
def test_sections_are_the_circuit(seed: int, times: int) -> None:
    circuit = random_circuit(seed, n_gates=4 + 5 * seed).repeated(times)
    spread = [gate for section in functions.sections(circuit.gates) for gate in section.gates * section.times]
    assert [(gate.name, gate.qubits, gate.matrix) for gate in spread] == [
        (gate.name, gate.qubits, gate.matrix) for gate in circuit.gates
    ]
    assert sum(section.times * section.n_angles for section in functions.sections(circuit.gates)) == circuit.n_angles


def test_layers_of_the_paper_are_one_section() -> None:
    assert sizes(FeatureMap(n_qubits=4, n_features=3, n_layers=50)) == [(8, 50)]
    assert sizes(FeatureMap(n_qubits=4, n_features=3, n_layers=50, final_entangler=False)) == [(8, 49), (4, 1)]


def test_what_comes_before_and_after_layers_stays_outside() -> None:
    layer = Circuit(3, 2).ry(range(3), w * x[0] + b).cz(line(3))
    circuit = Circuit(3, 2).h(range(3)) + layer.repeated(20) + Circuit(3, 2).rzz(ring(3), b)
    assert sizes(circuit) == [(3, 1), (5, 20), (3, 1)]


def test_few_gates_are_not_worth_a_loop_and_none_have_no_section() -> None:
    assert sizes(Circuit(2, 1).x(0).x(0).h(1).h(1)) == [(4, 1)]
    assert sizes(Circuit(2, 1)) == []


def test_gates_with_different_matrices_are_different() -> None:
    circuit = Circuit(1, 1)
    for number in range(30):
        corner = 1j ** (number % 2) if number < 15 else -1
        circuit = circuit.unitary(0, np.diag([1, corner]))
    assert sizes(circuit) == [(2, 7), (1, 1), (1, 15)]
