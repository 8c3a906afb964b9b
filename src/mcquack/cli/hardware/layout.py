"""``mcquack hardware layout``: where on a device a ring lies."""

from pathlib import Path
from typing import Annotated

import typer

from mcquack.cli.hardware import options as option
from mcquack.cli.notes import tell
from mcquack.cli.pictures import check_picture, write_picture


def layout(
    backend: Annotated[str, typer.Argument(help="A device or a snapshot of one, as fake_pittsburgh.")],
    qubits: Annotated[int, typer.Option(min=1, help="How many qubits the ring has.")] = 124,
    layers: Annotated[int, typer.Option(min=1, help="How many layers the feature map has.")] = 2,
    max_error: option.MaxError = 0.5,
    allow_faulty: option.AllowFaulty = False,
    out: Annotated[Path | None, typer.Option(help="A picture of the device with the ring: PNG, SVG or PDF.")] = None,
) -> None:
    """Find the ring of qubits that errs least, and print its qubits in order.

    Every qubit is coupled to the next, so that no SWAPs are needed. If there is no ring of this length, the lengths
    that there are get listed.

    Example: mcquack hardware layout fake_pittsburgh --qubits 116 --out ring.png
    """
    from mcquack.hardware.layout.ring import best_ring
    from mcquack.hardware.opening import device_coupling

    if out is not None:
        check_picture(out, overwrite=True)
    coupling = device_coupling(backend)
    ring = best_ring(coupling, qubits, max_error=max_error, n_layers=layers, allow_faulty=allow_faulty)
    typer.echo(" ".join(map(str, ring.qubits)))
    tell(f"Estimated chance of a run without any error: {ring.success:.2g}.")
    for note in ring.notes:
        tell(f"Note: {note}.")
    if out is not None:
        from mcquack.report import plot_device_ring

        write_picture(plot_device_ring(coupling, ring, max_error=max_error), out)
