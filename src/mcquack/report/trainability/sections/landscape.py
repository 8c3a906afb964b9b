"""The loss around what training found."""

from collections.abc import Sequence

from mcquack.report.trainability.landscape import Landscape, plot_landscape
from mcquack.report.trainability.names import number_text
from mcquack.report.trainability.sections.section import Picture, Section, file_name
from mcquack.report.trainability.sections.words import capital

N_SHOWN = 2
"""Without asking."""

NOTE = (
    "Losses of the first batch, with the regulariser, on a plane through the parameters, in units of the two "
    "directions; a plane shows two of many dimensions, and a minimum on it need not be one of the whole."
)


def landscape_section(found: Sequence[Landscape]) -> Section | None:
    """A slice through each; None without any."""
    if not found:
        return None
    return Section(
        id="landscape",
        title="Landscape",
        short="Landscape",
        lead=tuple(_reading(each) for each in found[:N_SHOWN]),
        notes=(NOTE,),
        pictures=tuple(
            Picture(
                name=file_name("landscape", str(index + 1)),
                title=capital(each.title),
                caption="The same losses as a surface and as contours."
                + (f" {_reading(each)}" if index >= N_SHOWN else ""),
                figure=plot_landscape(each.losses, path=each.path, title=capital(each.title)),
                folded=index >= N_SHOWN,
            )
            for index, each in enumerate(found)
        ),
    )


def _reading(each: Landscape) -> str:
    first, second, lowest = each.losses.minimum
    centre, highest = each.losses.centre, float(each.losses.losses.max())
    at = "there" if first == second == 0 else f"at ({number_text(first, digits=2)}, {number_text(second, digits=2)})"
    return (
        f"{capital(each.title)}: the loss is {number_text(centre)} in the centre, at least {number_text(lowest)} "
        f"({at}) and at most {number_text(highest)} on the plane."
    )
