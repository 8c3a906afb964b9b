"""The whole report of a study as values: its sections in the order of the page."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from mcquack.report.benchmark.tables import Table
from mcquack.report.trainability.landscape import Landscape, observed_landscapes
from mcquack.report.trainability.sections.gradients import gradient_section
from mcquack.report.trainability.sections.importance import importance_section
from mcquack.report.trainability.sections.kernels import kernel_section
from mcquack.report.trainability.sections.landscape import landscape_section
from mcquack.report.trainability.sections.paper import paper_section
from mcquack.report.trainability.sections.runs import run_tables
from mcquack.report.trainability.sections.scaling import all_decays, scaling_section
from mcquack.report.trainability.sections.section import Picture, Section
from mcquack.report.trainability.sections.shares import importances
from mcquack.report.trainability.sections.shots import shot_section
from mcquack.report.trainability.sections.training import training_section
from mcquack.report.trainability.study import Study


@dataclass(frozen=True, kw_only=True, eq=False)
class Report:
    """``appendix`` are tables that stand in files alone."""

    study: Study
    sections: tuple[Section, ...]
    appendix: tuple[Table, ...]

    @cached_property
    def pictures(self) -> tuple[Picture, ...]:
        """Of all sections."""
        return tuple(picture for section in self.sections for picture in section.pictures)

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """Of all sections and of the appendix; empty ones are left out."""
        own = (table for section in self.sections for table in section.tables)
        return tuple(table for table in (*own, *self.appendix) if table.rows)


def study_report(study: Study, *, landscapes: Sequence[Landscape] = ()) -> Report:
    """Everything that the observations allow to say; what they do not is left out."""
    decays = all_decays(study)
    found, faults = importances(study)
    sections = (
        paper_section(study, decays, found),
        gradient_section(study),
        scaling_section(study, decays),
        training_section(study),
        importance_section(found, faults),
        kernel_section(study),
        shot_section(study),
        landscape_section((*observed_landscapes(study.observations), *landscapes)),
    )
    return Report(
        study=study,
        sections=tuple(section for section in sections if section is not None),
        appendix=run_tables(study),
    )
