"""The paper's hardware experiment, simulated: what its rows say."""
