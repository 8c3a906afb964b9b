"""``mcquack models``: what can be trained, by name."""
