"""Imports that wait until they are needed, without a race between threads that need them at once."""

import threading

one_at_a_time = threading.RLock()
"""Held around every late import of scikit-learn, whose modules import each other in circles.

Two threads that enter such a circle at different places would find half a module.
"""
