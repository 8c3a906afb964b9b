"""Options that several verbs take."""

from pathlib import Path
from typing import Annotated, Literal

import typer

ModelFile = Annotated[Path, typer.Option("--model", help="A model file written by mcquack fit.")]
Data = Annotated[
    str, typer.Option(help="The table to label: CSV (also .gz) or Parquet. Or a dataset by name: its test part.")
]
Backend = Annotated[
    str,
    typer.Option(
        help="Where to run: ibm_…, least_busy, a snapshot as fake_pittsburgh, aer, simulator, or a noisy twin as "
        "twin:pittsburgh or twin:fake_pittsburgh; mcquack hardware devices lists them.",
    ),
]
Rows = Annotated[
    int | None, typer.Option(min=1, help="Only the first so many rows, as for a rehearsal.", show_default="all")
]
Shots = Annotated[int, typer.Option(min=1, help="Measurements of every circuit.")]
Tolerance = Annotated[
    int | None,
    typer.Option(
        min=0, help="Count outcomes with at most so many ones.", show_default="the model's, else calibrated first"
    ),
]
Store = Annotated[
    Path, typer.Option(help="The file that keeps every job and its raw counts; the same call goes on from there.")
]
Run = Annotated[str, typer.Option("--run", help="A name; another one measures anew what the store has already.")]
Decoupling = Annotated[
    Literal["auto", "none", "XX", "XpXm", "XY4"],
    typer.Option(help="Pulses on waiting qubits; auto is XX on a device, and none on a simulator."),
]
Twirling = Annotated[
    bool | None,
    typer.Option(help="Flip random bits before they are read, and back.", show_default="on a device, not here"),
]
Api = Annotated[
    Literal["auto", "v2", "executor"], typer.Option(help="Which sampler of the vendor; v2 is the older one.")
]
Mode = Annotated[
    Literal["job", "batch", "session"],
    typer.Option(help="How jobs are grouped on the service; IBM's Open Plan refuses sessions."),
]
Noise = Annotated[
    Literal["full", "pauli", "none"],
    typer.Option(help="Of snapshots: Aer's own model, the same errors as Pauli channels, or none."),
]
MaxError = Annotated[float, typer.Option(min=0, max=1, help="Qubits and couplers that err so often are avoided.")]
AllowFaulty = Annotated[
    bool,
    typer.Option(
        "--allow-faulty", help="Take a ring with faulty couplers if there is no other; snapshots replace them."
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="Of simulations: same seed, same counts.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before QPU time is spent.")]
StoreFile = Annotated[Path, typer.Argument(help="A file that mcquack hardware run or submit has written.")]

DEFAULT_STORE = Path("hardware.sqlite")
