"""The parts of the report of a study, each from observations to text, figures and tables."""
