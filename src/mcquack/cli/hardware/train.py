"""``mcquack hardware train``: training by measurements alone, within a budget of shots."""

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
from mcquack.cli.hardware.tolerance import check_tolerance
from mcquack.cli.notes import tell
from mcquack.cli.progress import shown

if TYPE_CHECKING:
    from mcquack.circuits.feature_map import FeatureMap
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
        int | None, typer.Option(min=0, help="Train on outcomes with at most so many ones.", show_default="the model's")
    ] = None,
    shots: option.Shots = 100,
    store: option.Store = option.DEFAULT_STORE,
    run: option.Run = "",
    decoupling: option.Decoupling = "auto",
    twirling: option.Twirling = None,
    api: option.Api = "auto",
    mode: option.Mode = "session",
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
    feature_map = classifier.feature_map_
    check_tolerance(tolerance, feature_map)
    rates = {} if rate is None else {"lr_ka": rate, "lr_co": rate}
    with goes_on_later(f"the same command, with --force if {out} was written, goes on"):
        sampler = device.sampler(feature_map)
        classifier.set_params(
            engine=sampler,
            shots=shots,
            gradient=method,
            shot_budget=budget,
            epochs=epochs,
            batch_size=classifier.batch_size if batch is None else batch,
            validation_fraction=None,
            training_tolerance=classifier.bitflip_tolerance if tolerance is None else tolerance,
            warm_start=True,
            n_repetitions=_repetitions(feature_map),
            **rates,
        )
        n_jobs = _told_jobs(classifier, lessons, shots=shots, budget=budget)
        training = classifier.fit_iter(lessons.X, lessons.y)  # refuses what cannot be before anybody is asked
        classifier.set_params(warm_start=False)  # whoever fits the model of the file later begins anew
        device.confirm_training(sampler, feature_map, n_shots=budget, n_jobs=n_jobs)
        with closing(training):
            for _ in shown(training, n_epochs=epochs):
                classifier.save(out, extra=lessons.extra)
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


def _told_jobs(classifier: "McQuackClassifier", lessons: Lessons, *, shots: int, budget: int) -> int:
    """Tells the shots of an epoch, by the method and by the paper's formula; gives about how many jobs they take."""
    from mcquack.training import total_shots

    n_rows = len(lessons.X)
    paper = total_shots(classifier.feature_map_, n_classes=len(classifier.centroids_), n_train=n_rows, n_shots=shots)
    per_epoch = classifier.epoch_shots(lessons.X, lessons.y)
    tell(
        f"An epoch takes {per_epoch:,} shots by {classifier.gradient.replace('_', ' ')}; "
        f"the paper's formula for all parameter shifts gives {paper:,}."
    )
    n_epochs = min(classifier.epochs, budget // per_epoch)
    # A batch has a job for its kernel and one for its derivatives, or two where spsa moves the whole circuit; the loss
    # at the end of an epoch takes another.
    of_kao = 3 if classifier.gradient == "spsa" else 2
    n_batches = -(-n_rows // classifier.batch_size)
    return max(1, n_epochs * (n_batches * (of_kao * classifier.epochs_ka + 2 * classifier.epochs_co) + 1))
