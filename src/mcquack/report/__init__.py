"""Pictures of a dataset, a circuit, a fitted model, a device or a ranking, and the report of a benchmark as a page.

Each ``plot_`` function returns a matplotlib figure to show or save, at print resolution, and displays are the same
pictures as scikit-learn has them: ``KernelDisplay.from_estimator(model, X, y)``. ``write_report`` writes a folder with
a page that needs nothing but a browser. The report of a trainability study is in ``mcquack.report.trainability``.
"""

from mcquack.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__, __file__)
