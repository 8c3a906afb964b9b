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
        moments = done.state.moments
        return Found(done.loss_kao, lambda: _first_gradients(moments["weights"], moments["bias"]))

    return step


def variational_build(problem: VariationalProblem) -> Step:
    """One step of all variational classifiers: forward, Pauli Z, cross entropy, adjoint gradients, update."""
    from mcquack.simulators.statevector import StatevectorEngine
    from mcquack.training import Parameters, TrainingData
    from mcquack.training.ensembles import EnsembleEpochs, EnsembleState, VariationalSettings

    inputs = problem.ensemble()
    engine = StatevectorEngine(problem.feature_map, dtype=np.float32)
    data = TrainingData(inputs.samples, inputs.labels, np.ones(problem.n_samples), problem.n_classes)
    epoch_of_one_step = EnsembleEpochs(engine, data, VariationalSettings(batch_size=problem.n_samples))
    start = EnsembleState.start(Parameters(inputs.weights, inputs.bias))

    def step() -> Found:
        state, loss, _ = epoch_of_one_step(start)

        def gradients() -> list[FloatArray]:
            """A classifier learns from its own loss; what is compared is the gradient of the mean of all."""
            by_class = [
                _first_gradients(training.moments["weights"], training.moments["bias"]) for training in state.trainings
            ]
            return [np.stack(each) / problem.n_classes for each in zip(*by_class, strict=True)]

        return Found(loss, gradients)

    return step


def _first_gradients(*moments: "Moments") -> list[FloatArray]:
    """What Adam was given in its first step."""
    from mcquack.training.optimizer import BETA_1

    return [moment.mean / np.float32(1 - BETA_1) for moment in moments]
