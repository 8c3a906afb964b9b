"""``mcquack hardware calibrate``: how many bit flips a device makes one tolerate."""

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mcquack.cli.datasets.options import DataDir
from mcquack.cli.files import check_can_write, write_whole
from mcquack.cli.hardware import options as option
from mcquack.cli.hardware.device import Device
from mcquack.cli.hardware.interrupted import goes_on_later
from mcquack.cli.hardware.samples import kernel_model
from mcquack.cli.hardware.tolerance import interval, labelled_rows, measured_accuracies, measured_calibration
from mcquack.cli.notes import tell
from mcquack.cli.pictures import check_picture, write_picture

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcquack.simulators.engine import FloatArray


def calibrate(
    model: option.ModelFile,
    backend: option.Backend,
    rule: Annotated[
        Literal["centroids", "accuracy"],
        typer.Option(help="Compare the centroids, as in the paper, or label rows whose labels are known: --data."),
    ] = "centroids",
    data: Annotated[
        str | None,
        typer.Option(
            help="For --rule accuracy: a table with labels, or a dataset by name: its training part.",
            show_default="none",
        ),
    ] = None,
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
    data_dir: DataDir = None,
) -> None:
    """Measure the kernel between the centroids of a model, and choose the tolerance that tells them apart best.

    The tolerance b counts outcomes with at most b ones as zeros; the paper's rule takes the one with the largest
    difference between the kernel of a centroid with itself and with others. With --rule accuracy it is the one that
    labels most rows of --data right, at the cost of measuring them all. It is printed; --out keeps it in a model.

    Example: mcquack hardware calibrate --model m.mcq --backend fake_pittsburgh --out calibrated.mcq --plot curve.png
    """
    device = Device.of(locals())
    _check_rule(rule, data=data, plot=plot)
    for path in (out, curve):
        if path is not None:
            check_can_write(path, overwrite=True, inputs=[model])
    if plot is not None:
        check_picture(plot, overwrite=True)
    classifier = kernel_model(model)
    rows = None if data is None else labelled_rows(data, classifier, model=model, data_dir=data_dir)
    with goes_on_later(device.how_to_go_on):
        sampler = device.sampler(classifier.feature_map_)
        device.confirm(sampler, [classifier.overlap_circuits(None if rows is None else rows.X)])
        if rows is not None:
            b, columns = measured_accuracies(classifier, sampler, rows, shots=shots)
            tell(f"Tolerance {b}; the accuracy there is {columns['accuracy'][b]:.3f} on {len(rows.X):,} rows.")
        else:
            found = measured_calibration(classifier, sampler, shots=shots, seed=seed)
            b = found.tolerance
            columns = {name: getattr(found, name) for name in ("diagonal", "off_diagonal", "difference")}
            tell(f"Tolerance {b}{interval(found)}; the difference there is {found.difference[b]:.3f}.")
            if plot is not None:
                from mcquack.report import plot_bitflip_calibration

                write_picture(plot_bitflip_calibration(found), plot)
    if curve is not None:
        write_whole(curve, _csv(columns).encode())
    if out is not None:
        classifier.set_params(bitflip_tolerance=b).save(out, extra=classifier.extra_)
    typer.echo(b)


def _check_rule(rule: str, *, data: str | None, plot: Path | None) -> None:
    if rule == "accuracy" and data is None:
        raise typer.BadParameter("--rule accuracy needs rows with their labels.", param_hint="--data")
    if rule == "centroids" and data is not None:
        raise typer.BadParameter("--rule centroids measures no rows; take --rule accuracy.", param_hint="--data")
    if rule == "accuracy" and plot is not None:
        raise typer.BadParameter(
            "the picture is that of --rule centroids; --curve writes numbers.", param_hint="--plot"
        )


def _csv(columns: "Mapping[str, FloatArray]") -> str:
    """The columns by their names, a line for every tolerance."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["tolerance", *columns])
    rows = zip(*columns.values(), strict=True)
    writer.writerows([b, *(f"{value:.6g}" for value in row)] for b, row in enumerate(rows))
    return text.getvalue()
