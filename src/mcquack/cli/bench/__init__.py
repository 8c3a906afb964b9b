"""``mcquack bench``: many models on many datasets."""
