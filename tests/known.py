"""What a test knows to be there."""

from typing import TypeVar

T = TypeVar("T")


def known(value: T | None) -> T:
    """The value, which is not None here."""
    assert value is not None
    return value
