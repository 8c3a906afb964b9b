"""``mcquack hardware run``: labels from a device, or from a rehearsal."""

from pathlib import Path
from typing import Annotated

import typer

from mcquack.cli import exit_codes
from mcquack.cli.datasets.options import DataDir
from mcquack.cli.files import check_can_write, write_whole
from mcquack.cli.hardware import options as option
from mcquack.cli.hardware.asking import Once, asked_circuits
from mcquack.cli.hardware.device import Device
from mcquack.cli.hardware.interrupted import goes_on_later
from mcquack.cli.hardware.samples import kernel_model, samples
from mcquack.cli.hardware.tolerance import check_tolerance, chosen_tolerance, needs_calibration
from mcquack.cli.labelling import labels_csv
from mcquack.cli.notes import tell, tell_problems


def run(
    model: option.ModelFile,
    data: option.Data,
    backend: option.Backend,
    rows: option.Rows = None,
    shots: option.Shots = 100,
    tolerance: option.Tolerance = None,
    store: option.Store = option.DEFAULT_STORE,
    out: Annotated[Path | None, typer.Option(help="The CSV to write.", show_default="stdout")] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Also write the share of each class.")] = False,
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
    """Label rows by a kernel that a device measures: one circuit for each row and centroid, all in few jobs.

    The ring of the model is laid where the device errs least. Every job and its raw counts are in the store before
    anything is read from them: after Ctrl-C, a crash or a lost connection the same command goes on from there. Without
    a tolerance of the model or of yours it is calibrated first. The cost is told, and asked for, before QPU time is
    spent. The same command rehearses on a snapshot.

    Example: mcquack hardware run --model flowers.mcq --data new.csv --backend fake_pittsburgh --out labels.csv
    """
    device = Device.of(locals())
    if out is not None:
        check_can_write(out, overwrite=True, inputs=[model, Path(data)])
    classifier = kernel_model(model)
    check_tolerance(tolerance, classifier.feature_map_)
    found = samples(data, classifier, model=model, data_dir=data_dir, n_rows=rows)
    accuracy = None
    if len(found.table.X):
        calibrating = needs_calibration(classifier, tolerance)
        asked = asked_circuits(classifier, found.table.X, shots=shots, calibrating=calibrating)
        with goes_on_later(device.how_to_go_on):
            sampler = device.sampler(classifier.feature_map_)
            device.confirm(sampler, asked)
            b = chosen_tolerance(classifier, sampler, tolerance=tolerance, shots=shots, seed=seed)
            classifier.set_params(engine=Once(sampler), shots=shots, bitflip_tolerance=b)
            accuracy = found.accuracy(classifier.predict(found.table.X))
    content = labels_csv(classifier, found.table, proba=proba).encode()
    if out is None:
        typer.echo(content, nl=False)
    else:
        write_whole(out, content)
    if accuracy is not None:
        tell(f"Accuracy on {len(found.table.X):,} rows: {accuracy:.3f}.")
    tell_problems(found.table.problems, consequence="could not be labelled")
    if found.table.problems:
        raise typer.Exit(exit_codes.SOME_ROWS_LEFT_OUT)
