"""The step in mcquack."""

import numpy as np

from benchmarks.problem import Step, StepProblem


def build(problem: StepProblem) -> Step:
    """One step of kernel alignment as training does it: forward, alignment, adjoint gradients, and the Adam update."""
    from mcquack.simulators.statevector import StatevectorEngine
    from mcquack.training import Parameters, TrainingData, TrainingSettings, TrainingState
    from mcquack.training.compiled import CompiledEpochs

    inputs = problem.inputs()
    engine = StatevectorEngine(problem.feature_map, dtype=np.float32)
    data = TrainingData(inputs.samples, inputs.labels, np.ones(problem.n_samples), problem.n_classes)
    settings = TrainingSettings(epochs_ka=1, epochs_co=0, batch_size=problem.n_samples)
    epoch_of_one_step = CompiledEpochs(engine, data, settings)
    start = TrainingState.start(Parameters(inputs.weights, inputs.bias, inputs.centroids))

    def step() -> float:
        loss = epoch_of_one_step(start, with_kernel=False).loss_kao
        assert loss is not None
        return loss

    return step
