"""How circuits are run on a device: their native form, their place, the jobs, and the services that run them.

Only this folder speaks Qiskit, which ``pip install "mcquack[ibm]"`` brings; importing it here needs nothing of that.
"""
