import pytest

from mcquack.bench.suite import suite_from_text
from mcquack.bench.toml_text import toml_fields
from mcquack.errors import InvalidInputError


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = " + "9" * 400, "64 bits"),
        ("a = " + "9" * 5_000, "mine.toml"),
        ("a = 0x" + "f" * 9_000, "64 bits"),
        ("a = [[1, [-9223372036854775809]]]", "64 bits"),
        ('a = "b\\u0000c"', "code 0"),
        ('"b\\u0000c" = 1', "code 0"),
        ("a = " + "[" * 10_000, "nested too deep"),
        ("a" + ".a" * 1_000 + " = 1", "mine.toml:1: .*500 dots"),
        ("a = ", "valid TOML"),
    ],
)
def test_what_cannot_be_meant_is_refused(text, message):
    with pytest.raises(InvalidInputError, match=message):
        toml_fields(text, called="mine.toml")


def test_what_can_be_meant_is_read():
    text = "a = 9223372036854775807\nb = [0.5, -0.25]\n[c.d]\ne = 'f.g'"
    assert toml_fields(text, called="mine.toml") == {"a": 2**63 - 1, "b": [0.5, -0.25], "c": {"d": {"e": "f.g"}}}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("seeds = 1000000000000", "seeds .* 100,000"),
        ("draws = 100001", "draws .* 100,000"),
        ("n_folds = 9000000000", "n_folds .* 100,000"),
        ("[spaces.svc]\n" + "".join(f"s{i} = [1, 2, 3, 4, 5, 6, 7, 8, 9]\n" for i in range(30)), "'svc' .*10,000,000"),
        ("[tables.t]\npath = '" + "a" * 5_000 + "'\ntarget = 'k'", "mine.toml:5: .*'aaaa"),
        ('search = "random:' + "9" * 5_000 + '"', "random:K.*'random:9999"),
    ],
)
def test_suites_that_could_never_be_run_are_refused(line, message):
    text = f'name = "mine"\ndatasets = ["iris3"]\nmodels = ["svc"]\n{line}\n'
    with pytest.raises(InvalidInputError, match=message):
        suite_from_text(text, called="mine.toml")
