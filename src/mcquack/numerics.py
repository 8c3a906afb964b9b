"""The version of mcquack's own arithmetic, by which results that differ in their last digits are told apart.

A benchmark puts it into the ids of its tasks, so that rows of an earlier arithmetic are kept but never taken for rows
of this one. ``tests/golden/test_numerics.py`` holds losses of short trainings and fails when they move.
"""

NUMERICS = 4
"""Raise it by one whenever training or prediction of one of mcquack's models rounds differently on the same machine.

That is whenever sums are taken in another order, a formula is rearranged, a default precision or a random draw changes.
Speed alone is no reason, nor are other processors or other versions of a library. Results from before there were
versions count as version 1.
"""
