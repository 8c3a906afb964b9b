"""How many circuits go into one job."""

from mcquack.checks import required_count
from mcquack.errors import InvalidInputError
from mcquack.hardware.jobs.service import Limits


def split(n_circuits: int, *, shots: int, n_parameters: int, limits: Limits) -> tuple[range, ...]:
    """The circuits 0 to ``n_circuits`` in as few jobs as the limits allow, in order and of about equal size."""
    shots = required_count("shots", shots)
    by_shots, by_parameters = limits.executions // shots, limits.parameters // max(n_parameters, 1)
    if not by_shots:
        raise InvalidInputError(
            f"a circuit with {shots} shots is more than a job of this service may hold, {limits.executions} "
            f"executions: take at most {limits.executions} shots, and other runs for more of them."
        )
    if not by_parameters:
        raise InvalidInputError(
            f"a circuit with {n_parameters} angles is more than a job of this service may hold, {limits.parameters}: "
            "take fewer qubits or layers."
        )
    n_jobs = -(-n_circuits // min(by_shots, by_parameters))
    # Equal parts wait and are lost alike; a last one of a few circuits would cost the overhead of a job for them.
    return tuple(range(n_circuits * number // n_jobs, n_circuits * (number + 1) // n_jobs) for number in range(n_jobs))
