"""``mcquack hardware train``: training by measurements alone, within a budget of shots."""

import copy
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mcquack.cli.datasets.options import DataDir
from mcquack.cli.files import check_can_write
from mcquack.cli.hardware import options as option
from mcquack.cli.hardware.device import Device
from mcquack.cli.hardware.interrupted import goes_on_later
from mcquack.cli.hardware.lessons import Lessons, more_lessons, new_lessons
from mcquack.cli.hardware.samples import kernel_model
from mcquack.cli.hardware.tolerance import check_tolerance, learnable_tolerance, needs_calibration
from mcquack.cli.notes import tell
from mcquack.cli.progress import shown

if TYPE_CHECKING:
    from mcquack.circuits.feature_map import FeatureMap
    from mcquack.circuits.overlap import Sampler
    from mcquack.hardware.outstanding import Outstanding
    from mcquack.models import McQuackClassifier


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
    device = Device.of(locals())
    check_can_write(out, overwrite=force, inputs=[Path(data), *([model] if model else [])], regular=True)
    if model is None:
        lessons = new_lessons(data, target=target, seed=seed, data_dir=data_dir)
        classifier = _new_model(lessons, n_qubits=qubits or 6, seed=seed)
    else:
        if qubits is not None:
            raise typer.BadParameter("a model that is there has its own; leave it out.", param_hint="--qubits")
        classifier = kernel_model(model)
        lessons = more_lessons(data, classifier, model=model, target=target, data_dir=data_dir)
        n_rows, n_features = lessons.X.shape
        tell(f"Training on {n_rows:,} rows; {n_features} features, {len(set(lessons.y.tolist()))} classes.")
    feature_map = classifier.feature_map_
    check_tolerance(tolerance, feature_map)
    rates = {} if rate is None else {"lr_ka": rate, "lr_co": rate}
    with goes_on_later(f"the same command, with --force if {out} was written, goes on"):
        sampler = device.sampler(feature_map)
        n_calibrating = len(classifier.centroids_) ** 2 if needs_calibration(classifier, tolerance) else 0
        classifier.set_params(
            engine=sampler,
            shots=shots,
            gradient=method,
            shot_budget=max(1, budget - n_calibrating * shots),
            epochs=epochs,
            batch_size=classifier.batch_size if batch is None else batch,
            validation_fraction=None,
            warm_start=True,
            n_repetitions=_repetitions(feature_map),
            **rates,
        )
        effort = _told_effort(classifier, lessons, sampler=sampler, n_calibrating=n_calibrating)
        classifier.fit_iter(lessons.X, lessons.y).close()  # refuses what cannot be before anybody is asked
        device.confirm_training(sampler, feature_map, n_shots=effort.n_circuits * shots, n_jobs=effort.n_jobs)
        b = learnable_tolerance(classifier, sampler, tolerance=tolerance, shots=shots, seed=seed)
        classifier.set_params(training_tolerance=b)
        with closing(classifier.fit_iter(lessons.X, lessons.y)) as training:
            for _ in shown(training, n_epochs=epochs):
                _as_exact(classifier, tolerance=b).save(out, extra=lessons.extra)
    tell(
        f"{classifier.n_iter_} epochs with {classifier.shots_:,} shots; the model of epoch {classifier.best_epoch_} is "
        f"in {out}."
    )


def _new_model(lessons: Lessons, *, n_qubits: int, seed: int) -> "McQuackClassifier":
    """Untrained, so that its circuit is known."""
    from mcquack.models import McQuackClassifier

    untrained = McQuackClassifier(n_qubits, 1, epochs=0, final_entangler=False, random_state=seed)
    return untrained.fit(lessons.X, lessons.y)


def _repetitions(feature_map: "FeatureMap") -> int:
    """Those of the circuit that is there, whatever None meant when it was made."""
    return feature_map.n_layers // -(-feature_map.n_features // (feature_map.features_per_gate * feature_map.n_qubits))


def _as_exact(classifier: "McQuackClassifier", *, tolerance: int | None) -> "McQuackClassifier":
    """The model as its file has it: used exactly, and fitted anew by whoever fits it, unless they say otherwise."""
    exact = {"shots": None, "gradient": "auto", "shot_budget": None, "training_tolerance": None, "warm_start": False}
    kept = copy.copy(classifier)
    kept.set_params(**exact, bitflip_tolerance=tolerance)
    return kept


def _told_effort(
    classifier: "McQuackClassifier", lessons: Lessons, *, sampler: "Sampler", n_calibrating: int
) -> "Outstanding":
    """Tells the shots of an epoch, by the method and by the paper's formula; gives what all epochs take at most."""
    from mcquack.hardware.outstanding import Outstanding
    from mcquack.training import total_shots

    n_rows, shots, budget = len(lessons.X), int(classifier.shots or 1), int(classifier.shot_budget or 1)
    paper = total_shots(classifier.feature_map_, n_classes=len(classifier.centroids_), n_train=n_rows, n_shots=shots)
    per_epoch = classifier.epoch_shots(lessons.X, lessons.y)
    tell(
        f"An epoch takes {per_epoch:,} shots by {classifier.gradient.replace('_', ' ')}; "
        f"the paper's formula for all parameter shifts gives {paper:,}."
    )
    if n_calibrating:
        tell(f"Measuring the centroids for a bit-flip tolerance takes {n_calibrating * shots:,} of the budget first.")
    n_epochs = min(classifier.epochs, budget // per_epoch)
    # A step of KAO measures its kernel, and for its derivatives shifted samples and shifted centroids, or both ways of
    # spsa; one of CO shifts centroids alone. The loss at the end of an epoch takes another call.
    n_batches = -(-n_rows // classifier.batch_size)
    n_calls = n_batches * (3 * classifier.epochs_ka + 2 * classifier.epochs_co) + 1
    n_jobs = n_epochs * (n_calls + _splits(classifier, sampler, n_circuits=per_epoch // shots)) + bool(n_calibrating)
    return Outstanding(n_circuits=n_epochs * (per_epoch // shots) + n_calibrating, n_jobs=n_jobs)


def _splits(classifier: "McQuackClassifier", sampler: "Sampler", *, n_circuits: int) -> int:
    """How many more jobs than calls so many circuits take at most, as a service limits the size of a job."""
    from mcquack.hardware.circuit.euler import n_angles
    from mcquack.hardware.jobs.splitting import split
    from mcquack.hardware.sampler import DeviceSampler

    if not isinstance(sampler, DeviceSampler):
        return 0
    size, limits = classifier.feature_map_, sampler.service.limits
    n_parameters = n_angles(size.n_qubits, size.n_layers)
    return len(split(n_circuits, shots=int(classifier.shots or 1), n_parameters=n_parameters, limits=limits)) - 1
