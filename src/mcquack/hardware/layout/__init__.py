"""Where on a device a ring of qubits lies best."""
