"""The steps in mcquack, with the Adam update that follows the gradients."""

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.problem import FloatArray, Found, Step, StepProblem
from benchmarks.variational_problem import VariationalProblem

if TYPE_CHECKING:
    from mcquack.simulators.statevector import StatevectorEngine
    from mcquack.training.optimizer import Moments


def build(problem: StepProblem) -> Step:
    """The step on the engine of the paper's circuit."""
    from mcquack.simulators.statevector import StatevectorEngine

    return alignment_step(problem, StatevectorEngine(problem.feature_map, dtype=np.float32))


def gates_build(problem: StepProblem) -> Step:
    """The step on the engine of any circuit."""
    from mcquack.simulators.gates import GateEngine

    return alignment_step(problem, GateEngine(problem.circuit, dtype=np.float32))


def alignment_step(problem: StepProblem, engine: "StatevectorEngine") -> Step:
    """One step of kernel alignment as training does it: forward, alignment, adjoint gradients, update."""
    from mcquack.training import Parameters, TrainingData, TrainingSettings, TrainingState
    from mcquack.training.compiled import CompiledEpochs

    inputs = problem.inputs()
    data = TrainingData(inputs.samples, inputs.labels, np.ones(problem.n_samples), problem.n_classes)
    settings = TrainingSettings(epochs_ka=1, epochs_co=0, batch_size=problem.n_samples)
    epoch_of_one_step = CompiledEpochs(engine, data, settings)
    start = TrainingState.start(Parameters(inputs.weights, inputs.bias, inputs.centroids))

    def step() -> Found:
        done = epoch_of_one_step(start, with_kernel=False)
        assert done.loss_kao is not None
        return Found(done.loss_kao, lambda: _first_gradients(*(done.state.moments[name] for name in ("weights", "bias"))))

    return step


def variational_build(problem: VariationalProblem) -> Step:
    """One step of all variational classifiers: forward, Pauli Z, cross entropy, adjoint gradients, update."""
    from mcquack.training.variational import VariationalParameters, VariationalSettings, VariationalState
    from mcquack.training.variational.training import VariationalEpochs

    from mcquack.simulators.statevector import StatevectorEngine
    from mcquack.training import TrainingData

    inputs = problem.ensemble()
    engine = StatevectorEngine(problem.feature_map, dtype=np.float32)
    data = TrainingData(inputs.samples, inputs.labels, np.ones(problem.n_samples), problem.n_classes)
    epoch_of_one_step = VariationalEpochs(engine, data, VariationalSettings(batch_size=problem.n_samples))
    start = VariationalState.start(VariationalParameters(inputs.weights, inputs.bias))

    def step() -> Found:
        state, loss, _ = epoch_of_one_step(start)
        moments = state.weights_moments, state.bias_moments
        # A classifier learns from its own loss; told is the mean of all.
        return Found(loss, lambda: [slope / problem.n_classes for slope in _first_gradients(*moments)])

    return step


def _first_gradients(*moments: "Moments") -> list[FloatArray]:
    """What Adam was given in its first step."""
    from mcquack.training.optimizer import BETA_1

    return [moment.mean / np.float32(1 - BETA_1) for moment in moments]
