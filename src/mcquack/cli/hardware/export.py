"""``mcquack hardware export``: circuits for whoever else has a device."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from mcquack.cli.datasets.options import DataDir
from mcquack.cli.files import check_can_write, write_whole
from mcquack.cli.hardware.options import ModelFile
from mcquack.cli.hardware.samples import kernel_model, samples
from mcquack.cli.notes import tell
from mcquack.errors import InvalidInputError

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
    from mcquack.hardware.circuit.qasm import template_qasm3, to_qasm2, to_qasm3

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
