"""What the observations of the study say: pure functions from values to values, none of which draws.

- :mod:`~mcquack.studies.trainability.analysis.decay`: how gradients fall with the number of qubits;
- :mod:`~mcquack.studies.trainability.analysis.importance`: which settings decide a result;
- :mod:`~mcquack.studies.trainability.analysis.losses`: oscillation of training curves, and slices of the loss;
- :mod:`~mcquack.studies.trainability.analysis.states`: expressibility, entanglement, concentration of the kernel;
- :mod:`~mcquack.studies.trainability.analysis.shot_noise`: the shots that a device would need.
"""

from mcquack.studies.trainability.analysis.decay import gradient_means, scaling
from mcquack.studies.trainability.analysis.importance import exact_anova, forest_importances, means_by
from mcquack.studies.trainability.analysis.losses import oscillation

__all__ = ["exact_anova", "forest_importances", "gradient_means", "means_by", "oscillation", "scaling"]
