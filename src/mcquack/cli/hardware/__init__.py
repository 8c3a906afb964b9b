"""``mcquack hardware``: circuits on devices, or rehearsed on their snapshots."""
