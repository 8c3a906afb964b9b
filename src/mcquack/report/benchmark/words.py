"""What families are called on the page and in its tables."""


def family_title(family: str) -> str:
    """The family's name without underscores."""
    return family.replace("_", " ")
