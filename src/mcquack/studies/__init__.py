"""Experiments that come along: their datasets and models, for a benchmark to name as "module:name"."""
