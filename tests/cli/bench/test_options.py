import pytest

from mcquack.cli.bench import listed


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (None, None),
        ([], None),
        ([" , "], None),
        (["a,b"], ("a", "b")),
        (["a", "b"], ("a", "b")),
        (["a, b", "b,c", ""], ("a", "b", "c")),
    ],
)
def test_names_come_with_commas_or_repeatedly(given, names):
    assert listed(given) == names
