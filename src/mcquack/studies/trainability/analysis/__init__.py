"""What the observations of the study say: pure functions from values to values, none of which draws.

- :mod:`~mcquack.studies.trainability.analysis.decay`: how gradients fall with the number of qubits;
- :mod:`~mcquack.studies.trainability.analysis.importance`: which settings decide a result;
- :mod:`~mcquack.studies.trainability.analysis.losses`: oscillation of training curves, and slices of the loss;
- :mod:`~mcquack.studies.trainability.analysis.states`: expressibility, entanglement, concentration of the kernel;
- :mod:`~mcquack.studies.trainability.analysis.shot_noise`: the shots that a device would need.
"""

from mcquack.studies.trainability.analysis.decay import (
    DecayFit,
    Law,
    Scaling,
    SizeMeans,
    fit_decay,
    gradient_means,
    scaling,
    size_means,
)
from mcquack.studies.trainability.analysis.importance import (
    Anova,
    Effect,
    ForestImportances,
    GroupMean,
    exact_anova,
    forest_importances,
    means_by,
)
from mcquack.studies.trainability.analysis.losses import (
    Directions,
    LossSlice,
    Oscillation,
    alignment_loss,
    loss_slice,
    oscillation,
    path_directions,
    random_directions,
)
from mcquack.studies.trainability.analysis.shot_noise import (
    ShotsNeeded,
    alignment_gradient_shots,
    entry_gradient_shots,
    prediction_shots,
    shots_to_resolve,
    shots_to_tell,
)
from mcquack.studies.trainability.analysis.states import (
    Concentration,
    Expressibility,
    entanglement,
    expressibility,
    haar_entanglement,
    haar_log_moments,
    kernel_concentration,
    meyer_wallach,
    pair_log_fidelities,
    random_circuit_fidelities,
)

__all__ = [
    "Anova",
    "Concentration",
    "DecayFit",
    "Directions",
    "Effect",
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
