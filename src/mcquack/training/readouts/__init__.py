"""Readouts of the compiled trainer: how states become scores, and how derivatives go back."""
