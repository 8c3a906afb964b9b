"""One generator per purpose, all from one seed."""

import hashlib
import json

import numpy as np


def stream(seed: int, *purpose: str) -> np.random.Generator:
    """A generator per purpose: a new purpose leaves the draws of the others as they were."""
    return np.random.default_rng([seed, *hashlib.sha256(json.dumps(purpose).encode()).digest()])
