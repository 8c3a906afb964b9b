"""``mcquack hardware submit``: send the jobs and leave."""

from mcquack.cli.datasets.options import DataDir
from mcquack.cli.hardware import options as option
from mcquack.cli.hardware.asking import asked_circuits
from mcquack.cli.hardware.device import Device
from mcquack.cli.hardware.interrupted import goes_on_later
from mcquack.cli.hardware.progress import Jobs
from mcquack.cli.hardware.samples import kernel_model, samples
from mcquack.cli.hardware.tolerance import check_tolerance, needs_calibration
from mcquack.cli.notes import tell, tell_problems
from mcquack.errors import InvalidInputError


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
    from mcquack.hardware.jobs.ledger import Ledger  # not above: it would delay every --help
    from mcquack.hardware.jobs.running import noted
    from mcquack.hardware.jobs.running import submit as send
    from mcquack.hardware.sampler import DeviceSampler

    device = Device.of(locals())
    if not device.keeps_jobs:
        raise InvalidInputError(f"{backend} runs at once and has no jobs; use mcquack hardware run.")
    classifier = kernel_model(model)
    check_tolerance(tolerance, classifier.feature_map_)
    found = samples(data, classifier, model=model, data_dir=data_dir, n_rows=rows)
    tell_problems(found.table.problems, consequence="cannot be labelled")
    if not len(found.table.X):
        raise InvalidInputError(f"{data} has no rows that can be labelled; nothing was sent.")
    calibrating = needs_calibration(classifier, tolerance)
    asked = asked_circuits(classifier, found.table.X, shots=shots, calibrating=calibrating)
    with goes_on_later(device.how_to_go_on):
        sampler = device.sampler(classifier.feature_map_)
        assert isinstance(sampler, DeviceSampler)  # as it keeps jobs
        device.confirm(sampler, asked)
        with Ledger.open(store, write=True) as ledger:
            for circuits in asked:
                measurement = noted(ledger, sampler.service, circuits, shots=shots, label=run)
                tells = Jobs()
                for event in send(ledger, sampler.service, measurement):
                    tells(event)
    if device.is_remote:
        tell(f"The jobs are noted in {store}; mcquack hardware status {store} tells how far they are.")
    else:
        tell(f"Simulations end with this process; mcquack hardware resume {store} runs what is noted there.")
