"""What devices are called, known without Qiskit."""

NOISELESS = "aer"
LEAST_BUSY = "least_busy"
_REMOTE = "ibm_"


def is_remote(name: object) -> bool:
    """Whether it is a real device, which takes an account and costs QPU time, or the choice among those."""
    return isinstance(name, str) and (name == LEAST_BUSY or name.startswith(_REMOTE))
