"""The arithmetic limit to compare with: how fast NumPy multiplies two large float32 matrices."""

import numpy as np

from benchmarks.problem import Found, Step, StepProblem

SIZE = 2048
FLOPS = 2 * SIZE**3
NOTHING = Found(0.0, list)


def build_all_cores(_: StepProblem | None = None) -> Step:
    """The product on all cores."""
    rng = np.random.default_rng(0)
    left, right = rng.random((2, SIZE, SIZE), dtype=np.float32)
    product = np.empty_like(left)

    def step() -> Found:
        np.matmul(left, right, out=product)
        return NOTHING

    return step


def build_one_core(problem: StepProblem) -> Step:
    """The product on one core."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(limits=1)
    return build_all_cores(problem)
