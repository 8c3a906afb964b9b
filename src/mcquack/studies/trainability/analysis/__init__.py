"""What the observations of the study say: pure functions from values to values, none of which draws."""

from mcquack.studies.trainability.analysis.anova import Anova, Effect, exact_anova
from mcquack.studies.trainability.analysis.by_setting import GroupMean, means_by
from mcquack.studies.trainability.analysis.concentration import (
    Concentration,
    haar_log_moments,
    kernel_concentration,
    pair_log_fidelities,
)
from mcquack.studies.trainability.analysis.convergence import Convergence, convergence
from mcquack.studies.trainability.analysis.decay import Band, DecayFit, Law, fit_decay
from mcquack.studies.trainability.analysis.directions import Directions, path_directions, random_directions
from mcquack.studies.trainability.analysis.entanglement import (
    Entanglement,
    entanglement,
    haar_entanglement,
    meyer_wallach,
)
from mcquack.studies.trainability.analysis.expressibility import (
    Expressibility,
    expressibility,
    random_circuit_fidelities,
)
from mcquack.studies.trainability.analysis.fanova import ForestImportances, forest_importances
from mcquack.studies.trainability.analysis.landscape import LossSlice, alignment_loss, loss_slice
from mcquack.studies.trainability.analysis.oscillation import Oscillation, oscillation
from mcquack.studies.trainability.analysis.scaling import Scaling, scaling
from mcquack.studies.trainability.analysis.shot_noise import (
    ShotsNeeded,
    alignment_gradient_shots,
    entry_gradient_shots,
    prediction_shots,
    shots_to_resolve,
    shots_to_tell,
)
from mcquack.studies.trainability.analysis.size_means import SizeMeans, gradient_means, size_means

__all__ = [
    "Anova",
    "Band",
    "Concentration",
    "Convergence",
    "DecayFit",
    "Directions",
    "Effect",
    "Entanglement",
    "Expressibility",
    "ForestImportances",
    "GroupMean",
    "Law",
    "LossSlice",
    "Oscillation",
    "Scaling",
    "ShotsNeeded",
    "SizeMeans",
    "alignment_gradient_shots",
    "alignment_loss",
    "convergence",
    "entanglement",
    "entry_gradient_shots",
    "exact_anova",
    "expressibility",
    "fit_decay",
    "forest_importances",
    "gradient_means",
    "haar_entanglement",
    "haar_log_moments",
    "kernel_concentration",
    "loss_slice",
    "means_by",
    "meyer_wallach",
    "oscillation",
    "pair_log_fidelities",
    "path_directions",
    "prediction_shots",
    "random_circuit_fidelities",
    "random_directions",
    "scaling",
    "shots_to_resolve",
    "shots_to_tell",
    "size_means",
]
