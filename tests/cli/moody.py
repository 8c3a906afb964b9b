"""A classifier whose training fails or dawdles when the environment says so, for workers in other processes."""

import os
import time

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

MOOD = "MCQUACK_TESTS_MOOD"
NAME = "tests.cli.moody:Moody"


class Moody(ClassifierMixin, BaseEstimator):
    """Always says the class it saw most, in any temper."""

    def __init__(self, temper=1):
        self.temper = temper

    def fit(self, X, y):
        mood = os.environ.get(MOOD)
        if mood == "bad":
            raise RuntimeError("not [bold]today[/bold]")
        if mood == "slow":
            time.sleep(0.2)
        self.classes_, counts = np.unique(y, return_counts=True)
        self.most_ = self.classes_[counts.argmax()]
        return self

    def predict(self, X):
        return np.full(len(X), self.most_)
