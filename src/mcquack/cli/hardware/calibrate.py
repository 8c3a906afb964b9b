"""``mcquack hardware calibrate``: how many bit flips a device makes one tolerate."""

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mcquack.cli.files import check_can_write, write_whole
from mcquack.cli.hardware import options as option
from mcquack.cli.hardware.device import Device
from mcquack.cli.hardware.interrupted import goes_on_later
from mcquack.cli.hardware.samples import kernel_model
from mcquack.cli.hardware.tolerance import interval, measured_calibration
from mcquack.cli.notes import tell
from mcquack.cli.pictures import check_picture, write_picture

if TYPE_CHECKING:
    from mcquack.kernels.bitflip import Calibration


def calibrate(
    model: option.ModelFile,
    backend: option.Backend,
    shots: option.Shots = 100,
    out: Annotated[
        Path | None, typer.Option(help="A model file with the tolerance in it.", show_default="none")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="A picture of the curve: PNG, SVG or PDF.")] = None,
    curve: Annotated[Path | None, typer.Option(help="The curve as a CSV.")] = None,
    store: option.Store = option.DEFAULT_STORE,
    run: option.Run = "",
    decoupling: option.Decoupling = "auto",
    twirling: option.Twirling = None,
    api: option.Api = "auto",
    mode: option.Mode = "job",
    noise: option.Noise = "pauli",
    max_error: option.MaxError = 0.5,
    allow_faulty: option.AllowFaulty = False,
    seed: option.Seed = 0,
    yes: option.Yes = False,
) -> None:
    """Measure the kernel between the centroids of a model, and choose the tolerance that tells them apart best.

    The tolerance b counts outcomes with at most b ones as zeros; the paper's rule takes the one with the largest
    difference between the kernel of a centroid with itself and with others. It is printed; --out keeps it in a model.

    Example: mcquack hardware calibrate --model m.mcq --backend fake_pittsburgh --out calibrated.mcq --plot curve.png
    """
    device = Device.of(locals())
    for path in (out, curve):
        if path is not None:
            check_can_write(path, overwrite=True, inputs=[model])
    if plot is not None:
        check_picture(plot, overwrite=True)
    classifier = kernel_model(model)
    with goes_on_later(device.how_to_go_on):
        sampler = device.sampler(classifier.feature_map_)
        device.confirm(sampler, [classifier.overlap_circuits()])
        found = measured_calibration(classifier, sampler, shots=shots, seed=seed)
    best = found.difference[found.tolerance]
    tell(f"Tolerance {found.tolerance}{interval(found)}; the difference there is {best:.3f}.")
    if curve is not None:
        write_whole(curve, _csv(found).encode())
    if plot is not None:
        from mcquack.report import plot_bitflip_calibration

        write_picture(plot_bitflip_calibration(found), plot)
    if out is not None:
        classifier.set_params(bitflip_tolerance=found.tolerance).save(out, extra=classifier.extra_)
    typer.echo(found.tolerance)


def _csv(calibration: "Calibration") -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["tolerance", "diagonal", "off_diagonal", "difference"])
    columns = (calibration.diagonal, calibration.off_diagonal, calibration.difference)
    writer.writerows([b, *(f"{value:.6g}" for value in row)] for b, row in enumerate(zip(*columns, strict=True)))
    return text.getvalue()
