import pytest

from experiment.errors import SplitbedError
from scripts.replacements import parsed


def test_values_are_read_as_yaml() -> None:
    assert parsed(["a.b=2", 'c="2"', "d=", "e==x", "f=2026-12-31", "g=[1, {h: i}]"]) == {
        "a.b": 2,
        "c": "2",
        "d": None,
        "e": "=x",
        "f": "2026-12-31",
        "g": [1, {"h": "i"}],
    }


def test_the_last_of_two_values_counts() -> None:
    assert parsed(["a=1", "a=2"]) == {"a": 2}


@pytest.mark.parametrize(
    ("argument", "says"),
    [
        ("", "not PATH=VALUE"),
        ("=", "not PATH=VALUE"),
        ("=1", "not PATH=VALUE"),
        ("a", "not PATH=VALUE"),
        (".=", "no setting has such a path"),
        ("a..b=1", "no setting has such a path"),
        (".a=1", "no setting has such a path"),
        ("a.=1", "no setting has such a path"),
        (" a=1", "no setting has such a path"),
        ("a\n=1", "no setting has such a path"),
        ("\udcff=1", "no setting has such a path"),
        (f"{'a.' * 3000}b=1", "no setting has such a path"),
        ("a=[", "the value is not YAML"),
        ("a=!!int x", "the value is not YAML"),
        ("a=&b [*b]", "the value is not YAML: it refers to itself"),
        (f"a={'[' * 700}", "the value is not YAML: it is nested too deep"),
        ("a=\udcff", "the value is not YAML"),
    ],
)
def test_what_cannot_be_set_is_refused_in_two_short_lines(argument: str, says: str) -> None:
    with pytest.raises(SplitbedError, match=says) as caught:
        parsed([argument])

    assert len(caught.value.message) < 250
    assert caught.value.remedy
