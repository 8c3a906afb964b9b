"""Who runs circuits: IBM devices, and simulators of their snapshots."""
