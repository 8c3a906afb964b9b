"""Measurements whose rows back the numbers in the README; each folder says how to make its rows again."""
