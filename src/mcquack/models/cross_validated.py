"""McQuack with its settings chosen from the samples themselves, as LogisticRegressionCV does for its own."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import islice
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.metrics import get_scorer
from sklearn.model_selection import StratifiedShuffleSplit, check_cv
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from mcquack.arrays import FloatArray
from mcquack.checks import MOST, is_whole_number
from mcquack.constraints import RANDOM_STATE, VERBOSE, Constraints, Custom, Number, Optional, Whole, check_settings
from mcquack.errors import InvalidInputError
from mcquack.models import catalog
from mcquack.models.base import HistoryRow, ValidationData
from mcquack.models.catalog import SearchSpace
from mcquack.models.mcquack import McQuackClassifier
from mcquack.models.preparation import checked_sample_weight
from mcquack.simulators.compiled.entry import noted_compiling
from mcquack.simulators.compiled.team import limited_threads

Space: TypeAlias = str | Mapping[str, Any] | Sequence[Mapping[str, Any]]
Scorer: TypeAlias = str | Callable[..., float]
_Data: TypeAlias = tuple[FloatArray, NDArray[Any], FloatArray]


@dataclass(frozen=True, eq=False)
class _Part:
    """What one model of the search learns from, and what it is scored on."""

    X: FloatArray
    y: NDArray[Any]
    sample_weight: FloatArray
    rows_judged: FloatArray
    labels_judged: NDArray[Any]


class _Candidate:
    """Settings with a model for each part, which train a few epochs at a time."""

    def __init__(self, number: int, settings: Mapping[str, Any], parts: Sequence[_Part], *, seed: int) -> None:
        self.number = number
        self.settings = dict(settings)
        self.models = [McQuackClassifier(**{"random_state": seed, **settings}) for _ in parts]
        self.parts = parts
        self.epochs: list[Iterator[HistoryRow]] = []
        self.scores: list[float] = []
        self.n_epochs = 0
        self.complete = False

    def train(self, share: float, scorer: Callable[..., float]) -> Self:
        """Trains until the share of its epochs is reached, or until patience ends it, and scores all its models."""
        with limited_threads(1):
            if not self.epochs:
                pairs = zip(self.models, self.parts, strict=True)
                self.epochs = [model.fit_iter(part.X, part.y, part.sample_weight) for model, part in pairs]
            wanted = math.ceil(share * self.models[0].epochs)
            for epochs in self.epochs:
                for _ in islice(epochs, max(0, wanted - self.n_epochs)):
                    pass
            self.n_epochs = wanted
            self.complete = share >= 1
            pairs = zip(self.models, self.parts, strict=True)
            self.scores = [float(scorer(model, part.rows_judged, part.labels_judged)) for model, part in pairs]
        return self

    @property
    def score(self) -> float:
        return float(np.mean(self.scores))


@dataclass(eq=False, repr=False)
class McQuackClassifierCV(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassifierMixin, BaseEstimator):
    """McQuackClassifier with settings that are chosen on folds, or on a validation part, of the training samples.

    All settings begin to train; those that score worst are given up on the way, so that a search of 24 settings costs
    as much as some twelve of them. The best are then trained on all samples.

    Parameters
    ----------
    space : "tuned", dict or list of dict. What to choose from: settings of McQuackClassifier with lists of values to
        try, or with the one value to keep; of a list of such dicts all are tried. "tuned" is the space that comes along
        (``mcquack models show mcquack``).
    cv : None, int or splitter. None scores on a validation part, an int on so many stratified folds, and anything else
        is a splitter of scikit-learn.
    validation_fraction : The share of the samples in the validation part.
    scoring : str or callable. What is to be high on the samples that a model has not seen: a name or a scorer of
        scikit-learn.
    n_rungs : The number of rungs of successive halving. All settings that are left train up to a rung, and only the
        best of them go on to the next. 1 trains all settings to the end.
    keep_fraction : The share of the settings that goes on at each rung, at least one setting.
    n_starts : How many starts of the chosen settings are averaged in the end.
    n_jobs : How many settings train side by side, in threads; None is one, and -1 as many as there are cores.
    random_state : Where random numbers come from; the same number gives the same model.
    verbose : 0 or 1. 1 shows on stderr how far the search is, rung by rung, and then the training of the chosen model.

    Attributes
    ----------
    best_estimator_ : The McQuackClassifier that was chosen, trained on all samples: save this one.
    best_params_, best_score_, best_index_ : Its settings, their mean score on samples not seen, and their number.
    cv_results_ : dict of lists, one entry for each setting: "params", "mean_test_score", "std_test_score", "n_epochs"
        and "complete", which is False for those that were given up.
    n_splits_ : On how many parts each setting was scored.
    classes_, n_features_in_, feature_names_in_ : As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"n_qubits": [2, 3], "loss": ["alignment", "cross_entropy"], "epochs": 20}
    >>> model = McQuackClassifierCV(space, cv=3, random_state=0).fit(X, y)
    >>> len(model.cv_results_["params"]), sorted(model.best_params_)
    (4, ['epochs', 'loss', 'n_qubits'])
    >>> model.score(X, y) > 0.9
    True
    """

    _constraints: ClassVar[Constraints] = {
        "space": Custom(
            'a name such as "tuned", a dict or a list of dicts',
            lambda value: isinstance(value, str | Mapping | list | tuple) and len(value) > 0,
        ),
        "validation_fraction": Number(0, 1, closed="neither"),
        "n_rungs": Whole(1),
        "keep_fraction": Number(0, 1, closed="neither"),
        "n_starts": Whole(1, most=MOST["n_starts"]),
        "n_jobs": Optional(Custom("a whole number other than 0", lambda value: is_whole_number(value) and value != 0)),
        "random_state": RANDOM_STATE,
        "verbose": VERBOSE,
    }

    space: Space = "tuned"
    _: KW_ONLY
    cv: Any = None
    validation_fraction: float = 0.2
    scoring: Scorer = "balanced_accuracy"
    n_rungs: int = 3
    keep_fraction: float = 0.5
    n_starts: int = 1
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None
    verbose: int = 0

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        validation_data: ValidationData | None = None,
    ) -> Self:
        """Chooses settings as :meth:`fit_iter` does, and trains the chosen ones.

        An interrupt while these train keeps the best model so far, and is raised again.
        """
        with noted_compiling(bool(self.verbose)):
            begun = self._begun(X, y, sample_weight, validation_data)
            for _ in self._shown(*begun) if self.verbose else self._search(*begun):
                pass
        return self

    def _shown(self, candidates: list[_Candidate], data: _Data, seed: int) -> Generator[dict[str, Any], None, None]:
        """Search, and show on stderr how far the rungs are; the chosen settings show their training by themselves."""
        from mcquack.progress import SafeConsole, counted_on_bar, tell  # not above: it imports rich

        console = SafeConsole(stderr=True)
        with counted_on_bar("training", sum(self._n_on_rungs(len(candidates))), console) as count:
            search = self._search(candidates, data, seed, count=count)
            for rung in islice(search, self.n_rungs):
                tell(self._rung_text(rung), console)
        yield from search

    def _rung_text(self, rung: Mapping[str, Any]) -> str:
        n_settings = rung["n_settings"]
        settings = f"{n_settings} setting{'' if n_settings == 1 else 's'}"
        return f"rung {rung['rung']}/{self.n_rungs}: {settings}, best {rung['score']:.3f}"

    def _n_on_rungs(self, n_settings: int) -> Iterator[int]:
        """How many settings train up to each rung."""
        for _ in range(self.n_rungs):
            yield n_settings
            n_settings = max(1, math.ceil(self.keep_fraction * n_settings))

    def fit_iter(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        validation_data: ValidationData | None = None,
    ) -> Generator[dict[str, Any], None, None]:
        """Searches, and yields after each rung how many settings are left and the best score; then trains the best.

        Parameters
        ----------
        X, y, sample_weight : As in McQuackClassifier.
        validation_data : pair (X, y), optional. What settings are scored on, in the place of ``cv``. The model that is
            kept has then learned from X alone.
        """
        return self._search(*self._begun(X, y, sample_weight, validation_data))

    def _begun(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, validation_data: ValidationData | None
    ) -> tuple[list[_Candidate], _Data, int]:
        check_settings(self)
        rows, targets = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(targets)
        weights = checked_sample_weight(sample_weight, len(rows))
        seed = int(check_random_state(self.random_state).randint(2**31))
        parts = self._parts(rows, targets, weights, validation_data, seed=seed)
        candidates = [
            _Candidate(number, settings, parts, seed=seed)
            for number, settings in enumerate(self._settings(rows.shape[1]))
        ]
        return candidates, (rows, targets, weights), seed

    def _search(
        self, candidates: list[_Candidate], data: _Data, seed: int, *, count: Callable[[str], None] | None = None
    ) -> Generator[dict[str, Any], None, None]:
        """What :meth:`fit_iter` yields; ``count`` is told of every setting that came to a rung, in whatever thread."""
        scorer = get_scorer(self.scoring)
        left = candidates

        def trained(each: _Candidate, rung: int) -> _Candidate:
            each.train(self.keep_fraction ** (self.n_rungs - 1 - rung), scorer)
            if count is not None:
                count(f"rung {rung + 1} of {self.n_rungs}, this one {each.score:.3f}")
            return each

        with Parallel(n_jobs=self.n_jobs, prefer="threads") as parallel:
            for rung, n_left in enumerate(self._n_on_rungs(len(candidates))):
                left = sorted(left, key=lambda each: (-each.score, each.number))[:n_left] if rung else left
                left = list(parallel(delayed(trained)(each, rung) for each in left))
                yield {"rung": rung + 1, "n_settings": len(left), "score": max(each.score for each in left)}
        best = max(left, key=lambda each: (each.score, -each.number))
        settings = {"random_state": seed, "verbose": self.verbose, **best.settings, "n_starts": self.n_starts}
        chosen = McQuackClassifier(**settings)
        try:
            chosen.fit(*data)
        finally:
            if hasattr(chosen, "classes_"):  # as after an interrupt, which keeps what was trained until then
                self._keep(chosen, best, candidates)

    def _keep(self, chosen: McQuackClassifier, best: _Candidate, candidates: list[_Candidate]) -> None:
        self.best_estimator_ = chosen
        self.best_params_, self.best_score_, self.best_index_ = best.settings, best.score, best.number
        self.n_splits_ = len(best.parts)
        self.classes_ = self.best_estimator_.classes_
        self.cv_results_: dict[str, list[Any]] = {
            "params": [each.settings for each in candidates],
            "mean_test_score": [each.score for each in candidates],
            "std_test_score": [float(np.std(each.scores)) for each in candidates],
            "n_epochs": [each.n_epochs for each in candidates],
            "complete": [each.complete for each in candidates],
        }

    def _settings(self, n_features: int) -> list[dict[str, Any]]:
        """All that is to be tried, each once: as many components as features, or more, are the features themselves."""
        tables = [self.space] if isinstance(self.space, Mapping) else self.space
        if isinstance(self.space, str):
            spaces = [catalog.entry("mcquack").search_space(self.space)]
        else:
            spaces = [SearchSpace.of(table) for table in tables]  # type: ignore[arg-type]
        found: list[dict[str, Any]] = []
        for settings in (each for space in spaces for each in space):
            if "n_components" in settings and settings["n_components"] >= n_features:
                settings = {**settings, "n_components": None}
            if settings not in found:
                found.append(settings)
        return found

    def _parts(
        self,
        X: FloatArray,
        y: NDArray[Any],
        weights: FloatArray,
        validation_data: ValidationData | None,
        *,
        seed: int,
    ) -> list[_Part]:
        if validation_data is not None:
            if not isinstance(validation_data, tuple | list) or len(validation_data) != 2:
                raise InvalidInputError("validation_data must be a pair (X, y).")
            rows_judged, labels_judged = validate_data(self, *validation_data, dtype=np.float64, reset=False)
            return [_Part(X, y, weights, rows_judged, labels_judged)]
        if self.cv is None:
            splits = StratifiedShuffleSplit(1, test_size=self.validation_fraction, random_state=seed).split(X, y)
        else:
            splits = check_cv(self.cv, y, classifier=True).split(X, y)
        return [_Part(X[inner], y[inner], weights[inner], X[outer], y[outer]) for inner, outer in splits]

    # What the chosen model does

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """As the chosen model."""
        return self._chosen.predict(X)

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """As the chosen model."""
        return self._chosen.predict_proba(X)

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """As the chosen model."""
        return self._chosen.decision_function(X)

    def transform(self, X: ArrayLike) -> FloatArray:
        """As the chosen model."""
        return self._chosen.transform(X)

    @property
    def _chosen(self) -> McQuackClassifier:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    @property
    def n_parameters_(self) -> int:
        return self._chosen.n_parameters_

    @property
    def _n_features_out(self) -> int:
        return self._chosen._n_features_out

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """As the chosen model."""
        check_is_fitted(self, "best_estimator_")
        super().get_feature_names_out(input_features)  # refuses names of other features than those of ``fit``
        return self._chosen.get_feature_names_out()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags
