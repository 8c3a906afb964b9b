"""What all datasets of the suite have in common."""

SUITE = "qml"
SIZES = range(2, 21)
"""What distinguishes the 19 members of a family, there and here called n."""

CITATION = (
    "Bowles, Ahmed, Schuld (2024), Better than classical? The subtle art of benchmarking quantum machine learning "
    "models, arXiv:2403.07059"
)
HOMEPAGE = "https://github.com/XanaduAI/qml-benchmarks"
