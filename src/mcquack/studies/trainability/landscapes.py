"""The loss around the point that training reached, on two planes."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mcquack.studies.trainability.analysis.directions import Directions, path_directions, random_directions
from mcquack.studies.trainability.analysis.landscape import loss_slice
from mcquack.training.parameters import Parameters

_SHORTEST_PATH = 3  # points that a plane takes
_AROUND = 1.2  # how much farther than the path its plane is shown
_DIGITS = 6


def loss_landscapes(
    loss: Callable[[Parameters], float], path: Sequence[Parameters], *, n_points: int, seed: int
) -> dict[str, Any]:
    """Slices by name, as plain values: "random" directions, and the plane of the "path", with the path in it."""
    centre = path[-1]
    planes: dict[str, tuple[Directions, float]] = {"random": (random_directions(centre, seed=seed), 1.0)}
    if len(path) >= _SHORTEST_PATH:
        along = path_directions(path)
        planes["path"] = along, _AROUND * float(np.abs(along.coordinates(path, centre)).max())
    return {
        name: {
            **_rounded(loss_slice(loss, centre, plane, reach=reach, n_points=n_points).to_json()),
            "path": _rounded(plane.coordinates(path, centre).tolist()) if name == "path" else [],
        }
        for name, (plane, reach) in planes.items()
    }


def _rounded(value: Any) -> Any:
    """To the digits that a picture shows."""
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, list) else float(f"{value:.{_DIGITS}g}")
