"""The pure functions: what users of JAX do with functions works with them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mcquack.circuits import Circuit, FeatureMap, arcsin, b, w, x
from mcquack.errors import InvalidInputError
from tests.circuit_oracles import qiskit_states

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
    with pytest.raises(InvalidInputError, match=r"rows of 2 features, got the shape \(3,\)"):
        states(np.zeros(3), WEIGHTS, BIAS)
    with pytest.raises(InvalidInputError, match="weights must have the shape"):
        states(ROWS, WEIGHTS[1:], BIAS)
    with pytest.raises(InvalidInputError, match="bias must have the shape"):
        states(ROWS, WEIGHTS, np.zeros((2, 2)))
