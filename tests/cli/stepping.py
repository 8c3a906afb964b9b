"""A model that trains in steps until it has had enough, without a validation part, and can be resumed."""

from dataclasses import dataclass, field

from mcquack.models.classical import CentroidKernelClassifier

STEPS = 100  # of an epoch


@dataclass(eq=False, repr=False)
class Stepping(CentroidKernelClassifier):
    """Learns all at once, but takes its steps, of which a row tells every hundred."""

    max_steps: int = field(default=500, kw_only=True)

    def fit(self, X, y, sample_weight=None):
        for _ in self.fit_iter(X, y, sample_weight):
            pass
        return self

    def fit_iter(self, X, y, sample_weight=None, *, resume=False):
        rows = list(self.history_) if resume else []
        super().fit(X, y, sample_weight)
        while len(rows) * STEPS < self.max_steps:
            rows = [*rows, {"epoch": len(rows) + 1, "loss": 1 / (len(rows) + 1)}]
            self.history_: list[dict[str, float]] = rows
            self.training_state_ = self.n_iter_ = len(rows) * STEPS
            yield rows[-1]

    def save(self, path, *, resumable=False, extra=None):
        fields = {**self._saved_fields(), "resumable": resumable}
        self._write(path, fields, self._saved_tensors(), extra)

    def _saved_fields(self):
        return {"history": self.history_, "resumable": hasattr(self, "training_state_")}

    def _restore(self, file):
        super()._restore(file)
        self.history_ = file.header["history"]
        self.n_iter_ = len(self.history_) * STEPS
        if file.header["resumable"]:
            self.training_state_ = self.n_iter_
