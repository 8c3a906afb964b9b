"""How settings are found: by the grid, by chance, by Optuna, or not at all."""

from mcquack.bench.search.method import SearchMethod

__all__ = ["SearchMethod"]
