"""The quantum neural networks of the QML benchmark suite (Bowles, Ahmed and Schuld 2024), one file each."""
