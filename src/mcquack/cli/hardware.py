"""The verbs of ``mcquack hardware``."""

import copy
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import typer

import mcquack
from mcquack.circuits.overlap import Sampler
from mcquack.cli import console
from mcquack.cli.console import (
    Checkpoints,
    check_can_write,
    check_picture,
    show_content,
    tell,
    tell_problems,
    write_whole,
)
from mcquack.cli.fit import description, training_data
from mcquack.cli.hardware_device import (
    OpenDevice,
    Yes,
    check_tolerance,
    goes_on_later,
    interval,
    kernel_model,
    rows_of,
    tell_all,
    with_device_options,
)
from mcquack.cli.options import MODEL, OUTPUT, DataDir, Force, argument, backend_names, flag, group, option
from mcquack.errors import InvalidInputError, MissingDependencyError, StoreBusyError
from mcquack.models.tables import labels_csv, table_extra, table_reading
from mcquack.progress import shown

if TYPE_CHECKING:
    from mcquack.hardware.jobs.ledger import MeasurementSummary
    from mcquack.hardware.services.account import Device
    from mcquack.models import McQuackClassifier

_BACKEND = "A device or a snapshot of one, as fake_pittsburgh."
_DATA = "The table to label, CSV (also .gz) or Parquet. Or a dataset by name: its test part."
_ROWS = "Only the first of the rows, this many, as for a rehearsal."
_TOLERANCE = "Count outcomes with at most this many ones; without it, the model's, or calibrated first."
_TRAINING_TOLERANCE = "Train on outcomes with at most this many ones; without it, the model's, or calibrated."
_RULE = "Compare the centroids, as in the paper, or label rows whose labels are known: --data."
_CALIBRATION_DATA = "For --rule accuracy: a table with labels, or a dataset by name: its training part."
_METHOD = (
    "Derivatives from two directions (spsa), from some shifted angles (stochastic_shift), or from all of them as in "
    "the paper (parameter_shift)."
)
_BATCH = "Rows of a step; fewer make more of the same shots, in more jobs. Without it, the model's."
Model = Annotated[Path, option("A model file written by mcquack fit.", "MODEL")]
JobStore = Annotated[Path, argument("STORE", "A file that mcquack hardware run or submit has written.")]
Only = Annotated[str | None, option("One measurement, by the start of its id; without it, all.", "ID")]

_OURS = (
    ("simulator", "any", "exact distributions", "", "", ""),
    ("twin:pittsburgh", "any", "as the paper's Heron r3", "", "", ""),
    ("twin:aachen", "any", "as the paper's Heron r2", "", "", ""),
)
_NUMBERS = ("qubits", "CLOPS", "waiting", "circuits", "shots", "measured")
MOST_CIRCUITS = 10_000
# The share of zeros in what should be zeros alone, below which training on them would mostly see none.
_SEEN = 0.1


def _show(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    console.show_rows({name: "right" if name in _NUMBERS else "left" for name in columns}, rows)


def devices(account: Annotated[bool, flag("--account", "Also the devices of your account with IBM.")] = False) -> None:
    """List where circuits can run: simulators, snapshots of devices, and the devices of your account.

    Any snapshot or device also has a noisy twin in our own simulator, as twin:fake_torino. Elsewhere than on a terminal
    each is a line of name, qubits, what it is, two-qubit gate, CLOPS and jobs waiting, separated by tabs.
    """
    try:
        found = mcquack.hardware.sampler.services().list_backends(with_account=account)
    except MissingDependencyError as error:
        if account:
            raise
        found = ()
        tell(f"Note: {error}")
    _show(("name", "qubits", "what", "gate", "CLOPS", "waiting"), [*_OURS, *map(_device_fields, found)])


def _device_fields(device: "Device") -> tuple[object, ...]:
    what = "without errors, by Aer" if device.kind == "simulator" else device.processor
    fields = (device.name, device.n_qubits or "any", what, device.two_qubit_gate, device.clops, device.pending_jobs)
    return tuple("" if field is None else field for field in fields)


def layout(
    backend: Annotated[str, argument("BACKEND", _BACKEND, autocompletion=backend_names)],
    qubits: Annotated[int, option("How many qubits the ring has.", "N", min=1)] = 124,
    layers: Annotated[int, option("How many layers the feature map has.", "N", min=1)] = 2,
    max_error: Annotated[
        float, option("Avoid qubits and couplers that err as often as this.", "RATE", min=0, max=1)
    ] = 0.5,
    allow_faulty: Annotated[
        bool, flag("--allow-faulty", "Take a ring with faulty couplers if there is no other.")
    ] = False,
    out: Annotated[Path | None, option("A picture of the device with the ring: PNG, SVG or PDF.", "FILE")] = None,
) -> None:
    """Find the ring of qubits that errs least, and print its qubits in order.

    Every qubit is coupled to the next, so that no SWAPs are needed. If there is no ring of this length, the lengths
    that there are get listed.

    Example: mcquack hardware layout fake_pittsburgh --qubits 116 --out ring.png
    """
    if out is not None:
        check_picture(out, overwrite=True)
    coupling = mcquack.hardware.device_coupling(backend)
    ring = mcquack.hardware.best_ring(coupling, qubits, max_error=max_error, n_layers=layers, allow_faulty=allow_faulty)
    typer.echo(" ".join(map(str, ring.qubits)))
    tell(f"Estimated chance of a run without any error: {ring.success:.2g}.")
    for note in ring.notes:
        tell(f"Note: {note}.")
    if out is not None:
        from mcquack.report import plot_device_ring

        console.write_picture(plot_device_ring(coupling, ring, max_error=max_error), out)


@with_device_options()
def calibrate(
    model: Model,
    device: OpenDevice,
    rule: Annotated[Literal["centroids", "accuracy"], option(_RULE)] = "centroids",
    data: Annotated[str | None, option(_CALIBRATION_DATA, "DATA")] = None,
    out: Annotated[Path | None, option("A model file with the tolerance in it.", "FILE", OUTPUT)] = None,
    plot: Annotated[Path | None, option("A picture of the curve: PNG, SVG or PDF.", "FILE", OUTPUT)] = None,
    curve: Annotated[Path | None, option("The curve as a CSV.", "FILE", OUTPUT)] = None,
    data_dir: DataDir = None,
) -> None:
    """Measure the kernel between the centroids of a model, and choose the tolerance that tells them apart best.

    The tolerance b counts outcomes with at most b ones as zeros; the paper's rule takes the one with the largest
    difference between the kernel of a centroid with itself and with others. With --rule accuracy it is the one that
    labels most rows of --data right, at the cost of measuring them all. It is printed; --out keeps it in a model.

    Example: mcquack hardware calibrate --model m.mcq --backend fake_pittsburgh --out calibrated.mcq --plot curve.png
    """
    from mcquack.hardware.labelling import accuracy_calibration, centroid_calibration, cost_of
    from mcquack.models.archive import tolerating

    if rule == "accuracy" and data is None:
        raise typer.BadParameter("--rule accuracy needs rows with their labels.", param_hint="--data")
    if rule == "centroids" and data is not None:
        raise typer.BadParameter("--rule centroids measures no rows; take --rule accuracy.", param_hint="--data")
    if rule == "accuracy" and plot is not None:
        raise typer.BadParameter(
            "the picture is that of --rule centroids; --curve writes numbers.", param_hint="--plot"
        )
    for path in filter(None, (out, curve)):
        check_can_write(path, overwrite=True, inputs=[model])
    if plot is not None:
        check_picture(plot, overwrite=True)
    classifier = kernel_model(model)
    X: Any = None
    y: Any = None
    if data is not None:
        table, y = rows_of(data, classifier, model=model, data_dir=data_dir, part="train")
        X = table.X
    with goes_on_later(device.how_to_go_on):
        sampler, shots = device.sampler(classifier.feature_map_), device.shots
        device.confirm(cost_of([classifier.overlap_circuits(X)], sampler=sampler, shots=shots))
        if X is not None:
            b, accuracies = accuracy_calibration(classifier, sampler, X, y, shots=shots)
            columns = {"accuracy": accuracies}
            tell(f"Tolerance {b}; the accuracy there is {accuracies[b]:.3f} on {len(X):,} rows.")
        else:
            found = centroid_calibration(classifier, sampler, shots=shots, seed=device.seed)
            b = found.tolerance
            columns = {name: getattr(found, name) for name in ("diagonal", "off_diagonal", "difference")}
            tell(f"Tolerance {b}{interval(found)}; the difference there is {found.difference[b]:.3f}.")
            if plot is not None:
                from mcquack.report import plot_bitflip_calibration

                console.write_picture(plot_bitflip_calibration(found), plot)
    if curve is not None:
        values = enumerate(zip(*columns.values(), strict=True))
        lines = [["tolerance", *columns], *([str(k), *(f"{value:.6g}" for value in row)] for k, row in values)]
        write_whole(curve, "".join(",".join(line) + "\n" for line in lines).encode())
    if out is not None:
        classifier.set_params(engine=tolerating(classifier, b)).save(out, extra=classifier.extra_)
    typer.echo(b)


@with_device_options()
def run(
    model: Model,
    data: Annotated[str, option(_DATA, "DATA")],
    device: OpenDevice,
    rows: Annotated[int | None, option(_ROWS, "N", min=1)] = None,
    tolerance: Annotated[int | None, option(_TOLERANCE, "N", min=0)] = None,
    out: Annotated[Path | None, option("The CSV to write; without it, stdout.", "FILE", OUTPUT)] = None,
    proba: Annotated[bool, flag("--proba", "Also write the share of each class.", OUTPUT)] = False,
    data_dir: DataDir = None,
) -> None:
    """Label rows by a kernel that a device measures: one circuit for each row and centroid, all in few jobs.

    The ring of the model is laid where the device errs least. Every job and its raw counts are in the store before
    anything is read from them: after Ctrl-C, a crash or a lost connection the same command goes on from there. Without
    a tolerance of the model or of yours it is calibrated first. The cost is told, and asked for, before QPU time is
    spent. The same command rehearses on a snapshot.

    Example: mcquack hardware run --model flowers.mcq --data new.csv --backend fake_pittsburgh --out labels.csv
    """
    if out is not None:
        check_can_write(out, overwrite=True, inputs=[model, Path(data)])
    classifier = kernel_model(model)
    table, truth = rows_of(data, classifier, model=model, data_dir=data_dir, n_rows=rows)
    labels: Any = []
    shares: Any = np.empty((0, len(classifier.classes_)))
    if len(table.X):
        with goes_on_later(device.how_to_go_on):
            labelled = device.labelling(classifier, table.X, tolerance=tolerance)
            if labelled.calibration is not None:
                told = interval(labelled.calibration)
                tell(f"Bit-flip tolerance {labelled.tolerance}, by the kernel between the centroids{told}.")
            labels, shares = labelled.labels, labelled.shares
    content = labels_csv(table, labels, classes=classifier.classes_, shares=shares if proba else None).encode()
    if out is None:
        show_content(content)
    else:
        write_whole(out, content)
    if truth is not None and len(labels):
        accuracy = np.mean(labels.astype(str) == truth.astype(str))
        tell(f"Accuracy on {len(labels):,} rows: {accuracy:.3f}.")
    tell_problems(table.problems, consequence="could not be labelled")
    if table.problems:
        raise typer.Exit(console.SOME_ROWS_LEFT_OUT)


@with_device_options()
def submit(
    model: Model,
    data: Annotated[str, option(_DATA, "DATA")],
    device: OpenDevice,
    rows: Annotated[int | None, option(_ROWS, "N", min=1)] = None,
    tolerance: Annotated[int | None, option(_TOLERANCE, "N", min=0)] = None,
    data_dir: DataDir = None,
) -> None:
    """Send the circuits of mcquack hardware run and do not wait; the jobs survive this process.

    mcquack hardware status tells how far they are, resume waits for them, and then run with the same options labels the
    rows from what is in the store.

    Example: mcquack hardware submit --model flowers.mcq --data new.csv --backend ibm_pittsburgh --store jobs.sqlite
    """
    if not device.keeps_jobs:
        raise InvalidInputError(f"{device.backend} runs at once and has no jobs; use mcquack hardware run.")
    classifier = kernel_model(model)
    table, _ = rows_of(data, classifier, model=model, data_dir=data_dir, n_rows=rows)
    tell_problems(table.problems, consequence="cannot be labelled")
    if not len(table.X):
        raise InvalidInputError(f"{data} has no rows that can be labelled; nothing was sent.")
    with goes_on_later(device.how_to_go_on):
        device.labelling(classifier, table.X, tolerance=tolerance).submit()
    if mcquack.hardware.is_remote(device.backend):
        tell(f"The jobs are noted in {device.store}; mcquack hardware status {device.store} tells how far they are.")
    else:
        tell(f"Simulations end with this process; mcquack hardware resume {device.store} runs what is noted there.")


def status(
    store: JobStore,
    ask: Annotated[bool, flag("--ask/--no-ask", "Ask the service how far the jobs are, or show what is noted.")] = True,
) -> None:
    """Show what was measured and how far the jobs are; those that are done are fetched and kept.

    While another process measures with the store, what is noted there is shown, and nobody is asked.

    Elsewhere than on a terminal each measurement is a line of its id, run, device, circuits, shots, circuits measured
    and jobs, separated by tabs.
    """
    jobs = mcquack.hardware.StoredJobs(store)
    if ask:
        try:
            tell_all(jobs.refresh())
        except StoreBusyError:
            tell(f"Another process is measuring with {store}, and asks by itself; this is what it has noted so far.")
    summaries = jobs.summaries()
    columns = ("measurement", "run", "device", "circuits", "shots", "measured", "jobs")
    _show(columns, [_job_fields(each) for each in summaries])
    if any(not each.is_complete for each in summaries):
        tell(f"mcquack hardware resume {store} waits for the rest.")


def _job_fields(summary: "MeasurementSummary") -> tuple[object, ...]:
    noted = ["done" if part.is_measured else part.job.state if part.job else "not sent" for part in summary.parts]
    states = ", ".join(f"{n} {state}" for state, n in Counter(noted).items())
    counts = summary.n_circuits, summary.shots, summary.n_measured
    return summary.id, summary.label, summary.service.get("backend", ""), *counts, states


def resume(store: JobStore, only: Only = None, yes: Yes = False) -> None:
    """Wait for the jobs of a store; what was never sent, or lost, cancelled or failed, is sent again.

    What that costs is told, and asked for, before QPU time is spent. Then the command that asked for the measurements
    gives its results at once.
    """
    jobs = mcquack.hardware.StoredJobs(store, only=only)
    with goes_on_later("the same command goes on"):
        tell_all(jobs.refresh())  # what was cancelled, lost or failed meanwhile costs again, which is asked for first
        for device, cost in jobs.estimates():
            OpenDevice(backend=device, store=store, yes=yes).confirm(cost)
        tell_all(jobs.resume())
    tell(f"All that was asked for is in {store}; the command that asked gives its results now.")


def cancel(store: JobStore, only: Only = None) -> None:
    """End the jobs that are on their way; what is done by then is kept."""
    tell_all(mcquack.hardware.StoredJobs(store, only=only).cancel())
    tell(f"What was measured is in {store}; mcquack hardware resume {store} sends the rest again.")


@with_device_options(mode="batch")
def train(
    data: Annotated[str, option("The table to learn from, or a dataset by name.", "DATA")],
    out: Annotated[Path, option("The model file to write.", "FILE")],
    budget: Annotated[int, option("At most this many shots in all.", "SHOTS", min=1)],
    device: OpenDevice,
    target: Annotated[str | None, option("The column with the labels; a table needs it.", "COLUMN")] = None,
    epochs: Annotated[int, option("At most this many epochs.", "N", min=1)] = 200,
    force: Force = False,
    model: Annotated[
        Path | None, option("A model to start from, trained or not; without it, a new one.", "FILE", MODEL)
    ] = None,
    method: Annotated[
        Literal["spsa", "stochastic_shift", "parameter_shift"], option(_METHOD, "METHOD", MODEL)
    ] = "spsa",
    qubits: Annotated[int | None, option("Qubits of a new model; without it, 6.", "N", MODEL, min=1)] = None,
    batch: Annotated[int | None, option(_BATCH, "N", MODEL, min=1)] = None,
    rate: Annotated[
        float | None, option("The learning rate of both phases; without it, that of the model.", "RATE", MODEL)
    ] = None,
    tolerance: Annotated[int | None, option(_TRAINING_TOLERANCE, "N", MODEL, min=0)] = None,
    data_dir: DataDir = None,
) -> None:
    """Train on a device, with derivatives from measured kernels and no more shots than the budget.

    The shots of an epoch by this method and by the paper's full parameter shift are told first. The best model so far
    is written after every epoch. What was measured is in the store, so that after a break the same command, with
    --force, repeats no measurement.

    Without a tolerance of the model or of yours the centroids are measured first, within the budget: if hardly any
    outcome is all zeros, from which training would learn nothing, the tolerance is calibrated on them. The model is
    written with that tolerance and without shots: mcquack predict simulates it, and mcquack hardware run measures it.

    Example: mcquack hardware train --data flowers.csv --target species --backend fake_torino --qubits 12
    --budget 2000000 --out flowers.mcq
    """
    from mcquack.hardware.labelling import known_tolerance, training_cost
    from mcquack.models import McQuackClassifier
    from mcquack.models.archive import tolerating
    from mcquack.simulators.shots import SampledEngine
    from mcquack.training import total_shots

    check_can_write(out, overwrite=force, inputs=[Path(data), *([model] if model else [])], regular=True)
    seed, shots = device.seed, device.shots
    if model is None:
        dataset = training_data(data, target=target, validation=0, seed=seed, data_dir=data_dir)
        tell(description(dataset))
        tell_problems(table_reading(dataset).left_out, consequence="could not be used")
        (X, y), extra = dataset.train, table_extra(dataset)
        classifier = McQuackClassifier(qubits or 6, 1, epochs=0, feature_map="device", random_state=seed).fit(X, y)
    else:
        if qubits is not None:
            raise typer.BadParameter("a model that is there has its own; leave it out.", param_hint="--qubits")
        classifier = kernel_model(model)
        extra = classifier.extra_
        if target not in (None, extra.get("table", {}).get("target", target)):
            raise typer.BadParameter(
                f"the labels of {model} are in {extra['table']['target']!r}.", param_hint="--target"
            )
        table, y = rows_of(data, classifier, model=model, data_dir=data_dir, part="train")
        X = table.X
        tell(f"Training on {len(X):,} rows; {X.shape[1]} features, {len(set(y.tolist()))} classes.")
    check_tolerance(tolerance, classifier)
    feature_map = classifier.feature_map_
    given = known_tolerance(classifier) if tolerance is None else tolerance
    wanted = {"lr_ka": rate, "lr_co": rate, "batch_size": batch}
    with goes_on_later(f"the same command, with --force if {out} was written, goes on"):
        sampler = device.sampler(feature_map)
        n_calibrating = len(classifier.centroids_) ** 2 if given is None else 0
        engine: dict[str, Any] = {"shots": shots, "gradient": method, "dtype": classifier.weights_.dtype}
        engine["budget"] = max(1, budget - n_calibrating * shots)
        classifier.set_params(engine=SampledEngine(sampler, **engine), epochs=epochs, feature_map=feature_map)
        given_ones = {name: value for name, value in wanted.items() if value is not None}
        classifier.set_params(validation_fraction=None, warm_start=True, **given_ones)
        per_epoch, cost = training_cost(classifier, X, y, n_calibrating=n_calibrating)
        paper = total_shots(feature_map, n_classes=len(classifier.centroids_), n_train=len(X), n_shots=shots)
        tell(
            f"An epoch takes {per_epoch:,} shots by {method.replace('_', ' ')}; "
            f"the paper's formula for all parameter shifts gives {paper:,}."
        )
        if n_calibrating:
            spent = n_calibrating * shots
            tell(f"Measuring the centroids for a bit-flip tolerance takes {spent:,} of the budget first.")
        classifier.fit_iter(X, y).close()  # refuses what cannot be before anybody is asked
        device.confirm(cost, at_most="at most ")
        b = _learnable_tolerance(classifier, sampler, shots=shots, seed=seed) if given is None else given
        classifier.set_params(engine=SampledEngine(sampler, **engine, training_tolerance=b))

        def write(path: Path) -> None:
            saved = copy.copy(classifier).set_params(engine=tolerating(classifier, b), warm_start=False)
            saved.save(path, extra=extra)

        checkpoints = Checkpoints(out, write)
        with closing(classifier.fit_iter(X, y)) as training:
            for epoch, _ in enumerate(shown(training, of=classifier), start=1):
                checkpoints.write(epoch)
        checkpoints.finish()
    tell(
        f"{classifier.n_iter_} epochs with {classifier.shots_:,} shots; the model of epoch {classifier.best_epoch_} is "
        f"in {out}."
    )


def _learnable_tolerance(classifier: "McQuackClassifier", sampler: Sampler, *, shots: int, seed: int) -> int | None:
    """A calibrated one; None where enough zeros are seen to train on."""
    from mcquack.hardware.labelling import centroid_calibration

    found = centroid_calibration(classifier, sampler, shots=shots, seed=seed)
    zeros = float(found.diagonal[0])
    if zeros >= _SEEN:
        tell(f"No bit-flip tolerance is needed: {zeros:.0%} of a centroid's shots with itself are all zeros.")
        return None
    tell(f"Bit-flip tolerance {found.tolerance}, as only {zeros:.1%} of a centroid's shots with itself are all zeros.")
    return found.tolerance


def export(
    model: Model,
    out: Annotated[Path, option("The file to write, or a folder for all pairs.", "PATH")],
    data: Annotated[
        str | None, option("A table, or a dataset by name: its rows; without it, the centroids themselves.", "DATA")
    ] = None,
    dialect: Annotated[
        Literal["qasm3", "braket", "qasm2"], option("OpenQASM 3, as Amazon Braket reads it, or OpenQASM 2.")
    ] = "qasm3",
    form: Annotated[
        Literal["native", "textbook"], option("In RZ, SX and CZ, or in RZ, RY and CNOT as the paper has it.")
    ] = "native",
    template: Annotated[
        bool, flag("--template", "One circuit with its angles as inputs, in place of numbers.")
    ] = False,
    sample: Annotated[int, option("Which row, counted from 1.", "N", min=1)] = 1,
    centroid: Annotated[int, option("Which centroid, counted from 1.", "N", min=1)] = 1,
    every: Annotated[bool, flag("--all", "All rows with all centroids, one file each.")] = False,
    data_dir: DataDir = None,
) -> None:
    """Write the circuits of a model as OpenQASM, for any vendor.

    The share of shots that read 0 everywhere, or at most b ones, is the kernel of a row and a centroid.

    Example: mcquack hardware export --model flowers.mcq --data new.csv --out circuit.qasm
    """
    classifier = kernel_model(model)
    kind: Literal["standard", "braket"] = "braket" if dialect == "braket" else "standard"
    if template:
        if dialect == "qasm2":
            raise typer.BadParameter("OpenQASM 2 has no inputs; take qasm3 or braket.", param_hint="--dialect")
        check_can_write(out, overwrite=True, inputs=[model])
        write_whole(out, mcquack.hardware.template_qasm3(classifier.feature_map_, dialect=kind).encode())
        tell(f"The circuit is in {out}.")
        return
    rows = None if data is None else rows_of(data, classifier, model=model, data_dir=data_dir)[0].X
    circuits = classifier.overlap_circuits(rows)
    n_rows, n_centroids = circuits.shape
    if not every:
        if sample > n_rows or centroid > n_centroids:
            raise InvalidInputError(f"there are {n_rows:,} rows and {n_centroids} centroids; choose among them.")
        check_can_write(out, overwrite=True, inputs=[model])
        files = {out: (sample - 1, centroid - 1)}
        told = f"The circuit of row {sample} and centroid {centroid} is in {out}."
    else:
        if n_rows * n_centroids > MOST_CIRCUITS:
            raise InvalidInputError(
                f"{n_rows:,} rows with {n_centroids} centroids would be more than {MOST_CIRCUITS:,} files; take "
                "--template, or fewer rows."
            )
        console.check_folder(out)
        out.mkdir(parents=True, exist_ok=True)
        files = {out / f"row_{i + 1}_centroid_{m + 1}.qasm": (i, m) for i, m in np.ndindex(n_rows, n_centroids)}
        told = f"{len(files):,} circuits are in {out}."
    for path, (i, m) in files.items():
        if dialect == "qasm2":
            text = mcquack.hardware.to_qasm2(circuits, sample=i, centroid=m, form=form)
        else:
            text = mcquack.hardware.to_qasm3(circuits, sample=i, centroid=m, form=form, dialect=kind)
        write_whole(path, text.encode())
    tell(told)


def hardware() -> None:
    """Run a model on a device of IBM, or rehearse exactly that on a snapshot of one.

    Devices and snapshots take mcquack[ibm]; an account is found where the vendor's own package keeps it, and never
    written anywhere.

    Examples: mcquack hardware devices, then mcquack hardware run --model m.mcq --data new.csv --backend fake_pittsburgh
    """


app = group(hardware, devices, layout, calibrate, run, submit, status, resume, cancel, train, export)
