"""Settings that hold for every test."""

import os

from hypothesis import HealthCheck, settings

# No display is needed to draw, and none is looked for; set before anything imports matplotlib.
os.environ["MPLBACKEND"] = "Agg"

# The same examples on every run and every machine. The first example of a test may wait for the compiler, and a busy
# machine may draw slowly: neither is a fault of the code under test.
settings.register_profile(
    "ci",
    derandomize=True,
    deadline=None,
    max_examples=50,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
# New examples on every run, to look for what the fixed ones miss.
settings.register_profile("explore", parent=settings.get_profile("ci"), derandomize=False, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
