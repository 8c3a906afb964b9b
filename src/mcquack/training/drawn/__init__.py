"""Training on mini-batches that are drawn with replacement, as the models of the QML benchmark suite are trained."""
