"""``mcquack datasets``: what can be trained on by name."""
