"""The verbs of ``mcquack hardware``."""

import copy
import csv
import io
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import typer
from rich.console import JustifyMethod

from mcquack.cli import console as exit_codes
from mcquack.cli import hardware_device as option
from mcquack.cli.console import (
    check_can_write,
    check_picture,
    show_rows,
    shown,
    tell,
    tell_problems,
    write_picture,
    write_whole,
)
from mcquack.cli.datasets import DataDir
from mcquack.cli.hardware_device import (
    Jobs,
    ModelFile,
    OpenDevice,
    StoreFile,
    Yes,
    check_tolerance,
    goes_on_later,
    interval,
    kernel_model,
    learnable_tolerance,
    more_lessons,
    new_lessons,
    require_agreement,
    samples,
)
from mcquack.errors import InvalidInputError, MissingDependencyError, StoreBusyError
from mcquack.models.tables import labels_csv

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcquack.arrays import FloatArray
    from mcquack.hardware.services.account import Device


# ``mcquack hardware calibrate``: how many bit flips a device makes one tolerate.


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
    from mcquack.models.labelling import accuracy_calibration, centroid_calibration, cost_of, tolerating

    device = OpenDevice.of(locals())
    _check_rule(rule, data=data, plot=plot)
    for path in (out, curve):
        if path is not None:
            check_can_write(path, overwrite=True, inputs=[model])
    if plot is not None:
        check_picture(plot, overwrite=True)
    classifier = kernel_model(model)
    rows = None if data is None else more_lessons(data, classifier, model=model, target=None, data_dir=data_dir)
    with goes_on_later(device.how_to_go_on):
        sampler = device.sampler(classifier.feature_map_)
        device.confirm(
            cost_of([classifier.overlap_circuits(None if rows is None else rows.X)], sampler=sampler, shots=shots)
        )
        if rows is not None:
            b, accuracies = accuracy_calibration(classifier, sampler, rows.X, rows.y, shots=shots)
            columns = {"accuracy": accuracies}
            tell(f"Tolerance {b}; the accuracy there is {columns['accuracy'][b]:.3f} on {len(rows.X):,} rows.")
        else:
            found = centroid_calibration(classifier, sampler, shots=shots, seed=seed)
            b = found.tolerance
            columns = {name: getattr(found, name) for name in ("diagonal", "off_diagonal", "difference")}
            tell(f"Tolerance {b}{interval(found)}; the difference there is {found.difference[b]:.3f}.")
            if plot is not None:
                from mcquack.report import plot_bitflip_calibration

                write_picture(plot_bitflip_calibration(found), plot)
    if curve is not None:
        write_whole(curve, _csv(columns).encode())
    if out is not None:
        classifier.set_params(engine=tolerating(classifier, b)).save(out, extra=classifier.extra_)
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


# ``mcquack hardware devices``: what can be named as a backend.

_COLUMNS: dict[str, JustifyMethod] = {
    "name": "left",
    "qubits": "right",
    "what": "left",
    "gate": "left",
    "CLOPS": "right",
    "waiting": "right",
}
_OURS = (
    ("simulator", "any", "exact distributions", "", "", ""),
    ("twin:pittsburgh", "any", "as the paper's Heron r3", "", "", ""),
    ("twin:aachen", "any", "as the paper's Heron r2", "", "", ""),
)


def devices(
    account: Annotated[bool, typer.Option("--account", help="Also the devices of your account with IBM.")] = False,
) -> None:
    """List where circuits can run: simulators, snapshots of devices, and the devices of your account.

    Any snapshot or device also has a noisy twin in our own simulator, as twin:fake_torino. Elsewhere than on a terminal
    each is a line of name, qubits, what it is, two-qubit gate, CLOPS and jobs waiting, separated by tabs.
    """
    from mcquack.hardware.opening import services

    try:
        found = services().list_backends(with_account=account)
    except MissingDependencyError as error:
        if account:
            raise
        found = ()
        tell(f"Note: {error}")
    show_rows(_COLUMNS, [*_OURS, *map(_fields, found)])


def _fields(device: "Device") -> tuple[str, ...]:
    numbers = (device.n_qubits, device.clops, device.pending_jobs)
    qubits, clops, waiting = ("" if number is None else str(number) for number in numbers)
    what = "without errors, by Aer" if device.kind == "simulator" else device.processor or ""
    return device.name, qubits or "any", what, device.two_qubit_gate or "", clops, waiting


# ``mcquack hardware export``: circuits for whoever else has a device.

_MOST_CIRCUITS = 10_000


def export(
    model: ModelFile,
    out: Annotated[Path, typer.Option(help="The file to write, or a folder for all pairs.")],
    data: Annotated[
        str | None,
        typer.Option(help="A table, or a dataset by name: its rows.", show_default="the centroids themselves"),
    ] = None,
    dialect: Annotated[
        Literal["qasm3", "braket", "qasm2"], typer.Option(help="OpenQASM 3, as Amazon Braket reads it, or OpenQASM 2.")
    ] = "qasm3",
    form: Annotated[
        Literal["native", "textbook"], typer.Option(help="In RZ, SX and CZ, or in RZ, RY and CNOT as the paper has it.")
    ] = "native",
    template: Annotated[
        bool, typer.Option("--template", help="One circuit with its angles as inputs, in place of numbers.")
    ] = False,
    sample: Annotated[int, typer.Option(min=1, help="Which row, counted from 1.")] = 1,
    centroid: Annotated[int, typer.Option(min=1, help="Which centroid, counted from 1.")] = 1,
    every: Annotated[bool, typer.Option("--all", help="All rows with all centroids, one file each.")] = False,
    data_dir: DataDir = None,
) -> None:
    """Write the circuits of a model as OpenQASM, for any vendor.

    The share of shots that read 0 everywhere, or at most b ones, is the kernel of a row and a centroid.

    Example: mcquack hardware export --model flowers.mcq --data new.csv --out circuit.qasm
    """
    from mcquack.hardware.qasm import template_qasm3, to_qasm2, to_qasm3

    classifier = kernel_model(model)
    if template:
        if dialect == "qasm2":
            raise typer.BadParameter("OpenQASM 2 has no inputs; take qasm3 or braket.", param_hint="--dialect")
        check_can_write(out, overwrite=True, inputs=[model])
        size = classifier.feature_map_
        kind: Literal["standard", "braket"] = "braket" if dialect == "braket" else "standard"
        write_whole(out, template_qasm3(size.n_qubits, size.n_layers, dialect=kind).encode())
        tell(f"The circuit is in {out}.")
        return
    rows = None if data is None else samples(data, classifier, model=model, data_dir=data_dir).table.X
    circuits = classifier.overlap_circuits(rows)

    def text(position: tuple[int, int]) -> bytes:
        pair = {"sample": position[0], "centroid": position[1]}
        if dialect == "qasm2":
            return to_qasm2(circuits, **pair, form=form).encode()
        return to_qasm3(circuits, **pair, form=form, dialect="braket" if dialect == "braket" else "standard").encode()

    n_rows, n_centroids = circuits.shape
    if not every:
        if sample > n_rows or centroid > n_centroids:
            raise InvalidInputError(f"there are {n_rows:,} rows and {n_centroids} centroids; choose among them.")
        check_can_write(out, overwrite=True, inputs=[model])
        write_whole(out, text((sample - 1, centroid - 1)))
        tell(f"The circuit of row {sample} and centroid {centroid} is in {out}.")
        return
    if n_rows * n_centroids > _MOST_CIRCUITS:
        raise InvalidInputError(
            f"{n_rows:,} rows with {n_centroids} centroids would be more than {_MOST_CIRCUITS:,} files; take "
            "--template, or fewer rows."
        )
    if out.exists() and not out.is_dir():
        raise InvalidInputError(f"{out} is a file; name a folder for all circuits.")
    out.mkdir(parents=True, exist_ok=True)
    for i in range(n_rows):
        for m in range(n_centroids):
            write_whole(out / f"row_{i + 1}_centroid_{m + 1}.qasm", text((i, m)))
    tell(f"{n_rows * n_centroids:,} circuits are in {out}.")


# ``mcquack hardware status``, ``resume`` and ``cancel``: jobs that were sent before.

if TYPE_CHECKING:
    from mcquack.hardware.jobs.ledger import MeasurementSummary
    from mcquack.hardware.jobs.running import JobEvent

_JOB_COLUMNS: dict[str, JustifyMethod] = {
    "measurement": "left",
    "run": "left",
    "device": "left",
    "circuits": "right",
    "shots": "right",
    "measured": "right",
    "jobs": "left",
}

Only = Annotated[
    str | None,
    typer.Option("--only", help="One measurement, by the start of its id.", show_default="all"),
]


def status(
    store: StoreFile,
    ask: Annotated[
        bool, typer.Option("--ask/--no-ask", help="Ask the service how far the jobs are, or show what is noted.")
    ] = True,
) -> None:
    """Show what was measured and how far the jobs are; those that are done are fetched and kept.

    While another process measures with the store, what is noted there is shown, and nobody is asked.

    Elsewhere than on a terminal each measurement is a line of its id, run, device, circuits, shots, circuits measured
    and jobs, separated by tabs.
    """
    from mcquack.hardware.opening import StoredJobs

    jobs = StoredJobs(store)
    if ask:
        try:
            _tell_all(jobs.refresh())
        except StoreBusyError:
            tell(f"Another process is measuring with {store}, and asks by itself; this is what it has noted so far.")
    summaries = jobs.summaries()
    show_rows(_JOB_COLUMNS, [_job_fields(each) for each in summaries])
    if any(not each.is_complete for each in summaries):
        tell(f"mcquack hardware resume {store} waits for the rest.")


def resume(store: StoreFile, only: Only = None, yes: Yes = False) -> None:
    """Wait for the jobs of a store; what was never sent, or lost, cancelled or failed, is sent again.

    What that costs is told, and asked for, before QPU time is spent. Then the command that asked for the measurements
    gives its results at once.
    """
    from mcquack.hardware.opening import StoredJobs

    jobs = StoredJobs(store, only=only)
    with goes_on_later("the same command goes on"):
        for device, cost in jobs.estimates():
            require_agreement(cost, backend=device, store=store, yes=yes)
        _tell_all(jobs.resume())
    tell(f"All that was asked for is in {store}; the command that asked gives its results now.")


def cancel(store: StoreFile, only: Only = None) -> None:
    """End the jobs that are on their way; what is done by then is kept."""
    from mcquack.hardware.opening import StoredJobs

    _tell_all(StoredJobs(store, only=only).cancel())
    tell(f"What was measured is in {store}; mcquack hardware resume {store} sends the rest again.")


def _tell_all(events: "Iterator[JobEvent]") -> None:
    tells = Jobs()
    for event in events:
        tells(event)


def _job_fields(summary: "MeasurementSummary") -> tuple[object, ...]:
    device = summary.service.get("backend", "")
    counts = summary.n_circuits, summary.shots, summary.n_measured
    return summary.id, summary.label, device, *counts, _states(summary)


def _states(summary: "MeasurementSummary") -> str:
    noted = ["done" if part.is_measured else part.job.state if part.job else "not sent" for part in summary.parts]
    counts = Counter(noted)
    return ", ".join(f"{n} {state}" for state, n in counts.items())


# ``mcquack hardware layout``: where on a device a ring lies.


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


# ``mcquack hardware run``: labels from a device, or from a rehearsal.


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
    from mcquack.models.labelling import label  # not above: it would delay every --help

    device = OpenDevice.of(locals())
    if out is not None:
        check_can_write(out, overwrite=True, inputs=[model, Path(data)])
    classifier = kernel_model(model)
    check_tolerance(tolerance, classifier.feature_map_)
    found = samples(data, classifier, model=model, data_dir=data_dir, n_rows=rows)
    labels: Any = []
    shares = accuracy = None
    if len(found.table.X):
        with goes_on_later(device.how_to_go_on):
            sampler = device.sampler(classifier.feature_map_)
            labelled = label(classifier, found.table.X, backend=sampler, shots=shots, tolerance=tolerance, seed=seed)
            device.confirm(labelled.estimate())
            if labelled.calibration is not None:
                told = interval(labelled.calibration)
                tell(f"Bit-flip tolerance {labelled.tolerance}, by the kernel between the centroids{told}.")
            labels, shares = labelled.labels, labelled.shares if proba else None
            accuracy = found.accuracy(labels)
    elif proba:
        shares = np.empty((0, len(classifier.classes_)))
    content = labels_csv(found.table, labels, classes=classifier.classes_, shares=shares).encode()
    if out is None:
        typer.echo(content, nl=False)
    else:
        write_whole(out, content)
    if accuracy is not None:
        tell(f"Accuracy on {len(found.table.X):,} rows: {accuracy:.3f}.")
    tell_problems(found.table.problems, consequence="could not be labelled")
    if found.table.problems:
        raise typer.Exit(exit_codes.SOME_ROWS_LEFT_OUT)


# ``mcquack hardware submit``: send the jobs and leave.


def submit(
    model: option.ModelFile,
    data: option.Data,
    backend: option.Backend,
    rows: option.Rows = None,
    shots: option.Shots = 100,
    tolerance: option.Tolerance = None,
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
    """Send the circuits of mcquack hardware run and do not wait; the jobs survive this process.

    mcquack hardware status tells how far they are, resume waits for them, and then run with the same options labels the
    rows from what is in the store.

    Example: mcquack hardware submit --model flowers.mcq --data new.csv --backend ibm_pittsburgh --store jobs.sqlite
    """
    from mcquack.models.labelling import label

    device = OpenDevice.of(locals())
    if not device.keeps_jobs:
        raise InvalidInputError(f"{backend} runs at once and has no jobs; use mcquack hardware run.")
    classifier = kernel_model(model)
    check_tolerance(tolerance, classifier.feature_map_)
    found = samples(data, classifier, model=model, data_dir=data_dir, n_rows=rows)
    tell_problems(found.table.problems, consequence="cannot be labelled")
    if not len(found.table.X):
        raise InvalidInputError(f"{data} has no rows that can be labelled; nothing was sent.")
    with goes_on_later(device.how_to_go_on):
        sampler = device.sampler(classifier.feature_map_)
        labelled = label(classifier, found.table.X, backend=sampler, shots=shots, tolerance=tolerance, seed=seed)
        device.confirm(labelled.estimate())
        labelled.submit()
    if device.is_remote:
        tell(f"The jobs are noted in {store}; mcquack hardware status {store} tells how far they are.")
    else:
        tell(f"Simulations end with this process; mcquack hardware resume {store} runs what is noted there.")


# ``mcquack hardware train``: training by measurements alone, within a budget of shots.


def train(
    data: Annotated[str, typer.Option(help="The table to learn from, or a dataset by name.")],
    backend: option.Backend,
    out: Annotated[Path, typer.Option(help="The model file to write.")],
    budget: Annotated[int, typer.Option(min=1, help="At most so many shots in all.")],
    model: Annotated[
        Path | None, typer.Option(help="A model to start from, trained or not.", show_default="a new one")
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="The column with the labels; a table needs it.", show_default=False)
    ] = None,
    method: Annotated[
        Literal["spsa", "stochastic_shift", "parameter_shift"],
        typer.Option(
            help="Derivatives from two directions, from some shifted angles, or from all of them as in the paper."
        ),
    ] = "spsa",
    qubits: Annotated[int | None, typer.Option(min=1, help="Qubits of a new model.", show_default="6")] = None,
    epochs: Annotated[int, typer.Option(min=1, help="At most so many epochs.")] = 200,
    batch: Annotated[
        int | None,
        typer.Option(
            min=1, help="Rows of a step; fewer make more of the same shots, in more jobs.", show_default="the model's"
        ),
    ] = None,
    rate: Annotated[
        float | None, typer.Option(help="The learning rate of both phases.", show_default="that of the model")
    ] = None,
    tolerance: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Train on outcomes with at most so many ones.",
            show_default="the model's, else calibrated if need be",
        ),
    ] = None,
    shots: option.Shots = 100,
    store: option.Store = option.DEFAULT_STORE,
    run: option.Run = "",
    decoupling: option.Decoupling = "auto",
    twirling: option.Twirling = None,
    api: option.Api = "auto",
    mode: option.Mode = "batch",
    noise: option.Noise = "pauli",
    max_error: option.MaxError = 0.5,
    allow_faulty: option.AllowFaulty = False,
    seed: option.Seed = 0,
    yes: option.Yes = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the model file if it exists.")] = False,
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
    from mcquack.kernels.measured import SampledEngine
    from mcquack.models import McQuackClassifier
    from mcquack.models.labelling import known_tolerance, tolerating, training_cost
    from mcquack.training import total_shots

    device = OpenDevice.of(locals())
    check_can_write(out, overwrite=force, inputs=[Path(data), *([model] if model else [])], regular=True)
    if model is None:
        lessons = new_lessons(data, target=target, seed=seed, data_dir=data_dir)
        untrained = McQuackClassifier(qubits or 6, 1, epochs=0, feature_map="device", random_state=seed)
        classifier = untrained.fit(lessons.X, lessons.y)
    else:
        if qubits is not None:
            raise typer.BadParameter("a model that is there has its own; leave it out.", param_hint="--qubits")
        classifier = kernel_model(model)
        lessons = more_lessons(data, classifier, model=model, target=target, data_dir=data_dir)
        n_rows, n_features = lessons.X.shape
        tell(f"Training on {n_rows:,} rows; {n_features} features, {len(set(lessons.y.tolist()))} classes.")
    feature_map = classifier.feature_map_
    check_tolerance(tolerance, feature_map)
    given = known_tolerance(classifier) if tolerance is None else tolerance
    X, y = lessons.X, lessons.y
    rates = {} if rate is None else {"lr_ka": rate, "lr_co": rate}
    with goes_on_later(f"the same command, with --force if {out} was written, goes on"):
        sampler = device.sampler(feature_map)
        n_calibrating = len(classifier.centroids_) ** 2 if given is None else 0
        engine: dict[str, Any] = {
            "shots": shots,
            "gradient": method,
            "budget": max(1, budget - n_calibrating * shots),
            "dtype": classifier.weights_.dtype,
        }
        classifier.set_params(
            engine=SampledEngine(sampler, **engine),
            epochs=epochs,
            batch_size=classifier.batch_size if batch is None else batch,
            validation_fraction=None,
            feature_map=feature_map,
            **rates,
        )
        per_epoch, cost = training_cost(classifier, X, y, n_calibrating=n_calibrating)
        paper = total_shots(feature_map, n_classes=len(classifier.centroids_), n_train=len(X), n_shots=shots)
        tell(
            f"An epoch takes {per_epoch:,} shots by {method.replace('_', ' ')}; "
            f"the paper's formula for all parameter shifts gives {paper:,}."
        )
        if n_calibrating:
            tell(
                f"Measuring the centroids for a bit-flip tolerance takes {n_calibrating * shots:,} of the budget first."
            )
        classifier.fit_iter(X, y, warm_start=True).close()  # refuses what cannot be before anybody is asked
        device.ask(cost, at_most="at most ")
        b = learnable_tolerance(classifier, sampler, tolerance=given, shots=shots, seed=seed)
        classifier.set_params(engine=SampledEngine(sampler, **engine, training_tolerance=b))
        with closing(classifier.fit_iter(X, y, warm_start=True)) as training:
            for _ in shown(training, n_epochs=epochs):
                kept = copy.copy(classifier).set_params(engine=tolerating(classifier, b))
                kept.save(out, extra=lessons.extra)
    tell(
        f"{classifier.n_iter_} epochs with {classifier.shots_:,} shots; the model of epoch {classifier.best_epoch_} is "
        f"in {out}."
    )


app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode="markdown")
for verb in (devices, layout, calibrate, run, submit, status, resume, cancel, train, export):
    app.command()(verb)


@app.callback()
def hardware() -> None:
    """Run a model on a device of IBM, or rehearse exactly that on a snapshot of one.

    Devices and snapshots take mcquack[ibm]; an account is found where the vendor's own package keeps it, and never
    written anywhere.

    Examples: mcquack hardware devices, then mcquack hardware run --model m.mcq --data new.csv --backend fake_pittsburgh
    """
