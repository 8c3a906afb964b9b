"""Where data comes from: datasets by name, generators, and tables and arrays of your own, all as one kind of value.

>>> from mcquack import datasets
>>> X, y = datasets.load("iris3").train
>>> X.shape
(105, 4)
"""

from mcquack.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__, __file__)
