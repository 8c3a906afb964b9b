"""What runs circuits: IBM's devices, and simulators of their snapshots. Only this folder imports Qiskit."""
