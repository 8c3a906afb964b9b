"""``mcquack trainability``: does a model train, and what decides it."""
