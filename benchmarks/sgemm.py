"""The arithmetic limit to compare with: how fast NumPy multiplies two large float32 matrices."""

import numpy as np

from benchmarks.problem import Step, StepProblem

SIZE = 2048
FLOPS = 2 * SIZE**3


def build_all_cores(_: StepProblem) -> Step:
    """The product on all cores."""
    rng = np.random.default_rng(0)
    left, right = rng.random((2, SIZE, SIZE), dtype=np.float32)
    product = np.empty_like(left)

    def step() -> float:
        np.matmul(left, right, out=product)
        return 0.0

    return step


def build_one_core(problem: StepProblem) -> Step:
    """The product on one core."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(limits=1)
    return build_all_cores(problem)
