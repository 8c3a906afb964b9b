"""Which features the decisions of a fitted model hang on, by exact derivatives."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted, validate_data

from mcquack.arrays import FloatArray
from mcquack.checks import require
from mcquack.models.robustness import feature_gradients


def feature_importances(model: Any, X: ArrayLike, *, per: Literal["spread", "unit"] = "spread") -> FloatArray:
    """How much the margin of a model's decisions changes with each of its original features, on average (d,).

    The margin of a sample is the score of its predicted class less the largest of the others, as in
    :func:`mcquack.models.robustness.margins`. Its derivatives by the features are exact, through scaling, principal
    components and affine transformers, and of several starts those of their mean; what is returned is the mean of their
    absolute values over samples. They say what moves decisions nearby;
    ``sklearn.inspection.permutation_importance(model, X, y)`` says what the score loses without a feature, and works
    with any model.

    Parameters
    ----------
    model : A fitted model that :func:`mcquack.models.robustness.surface_of` knows, such as McQuackClassifier.
    X : Samples as they are passed to ``fit``.
    per : "spread" or "unit". What a feature is moved by: its standard deviation in ``X``, so that units do not matter
        and features compare, or one unit of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from mcquack import McQuackClassifier
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> model = McQuackClassifier(2, 2, epochs=30, random_state=0).fit(X, X[:, 1] > 0)
    >>> int(feature_importances(model, X).argmax())
    1
    """
    require(per in ("spread", "unit"), "per", '"spread" or "unit"', per)
    check_is_fitted(model, "classes_")
    rows = validate_data(model, X, dtype=np.float64, reset=False)
    named = X if hasattr(model, "feature_names_in_") else rows  # as the model wants to see names again
    slopes = feature_gradients(model, named, model.predict(named))
    if model.scaler_ is not None:
        slopes = slopes * model.scaler_.scale_
    if model.features_ is not None:
        slopes = model.features_.pulled(rows, slopes)
    sizes: FloatArray = np.abs(slopes).mean(axis=0)
    return sizes * rows.std(axis=0) if per == "spread" else sizes
