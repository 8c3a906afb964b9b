import warnings

import pytest

from mcquack.cli.datasets import loaded
from mcquack.datasets import Description, from_arrays, register
from mcquack.errors import SubstitutedDataWarning


def test_notes_are_for_stand_ins_and_other_warnings_stay_warnings(registered, capsys):
    description = Description(
        name="odd", title="Odd", task="t", class_names=("0", "1"), n_features=1, sizes={"train": 2}
    )

    @register(description)
    def _(_request):
        warnings.warn("something\n  else came", SubstitutedDataWarning, stacklevel=2)
        warnings.warn("take care", UserWarning, stacklevel=2)
        return from_arrays([[1.0], [2.0]], [0, 1])

    with pytest.warns(UserWarning, match="take care") as others:
        assert loaded("odd").name == "odd"
    assert len(others) == 1
    assert capsys.readouterr().err == "Note: something else came\n"
