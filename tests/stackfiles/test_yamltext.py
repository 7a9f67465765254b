import pytest

from stackfiles.yamltext import YAMLTextError, read

BOMB = "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 10)}]\n" for old, new in ("ab", "bc", "cd", "de", "ef", "fg", "gh")
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("# nothing", None),
        ("2", 2),
        ('"2"', "2"),
        ("a: {b: [1, 1.5, true, null, x]}", {"a": {"b": [1, 1.5, True, None, "x"]}}),
        ("2026-12-31", "2026-12-31"),
        ("2026-13-45", "2026-13-45"),
        ("{2026-12-31: 1}", {"2026-12-31": 1}),
        ("{a: &x {b: 1}, c: *x}", {"a": {"b": 1}, "c": {"b": 1}}),
        ("{a: &x {b: 1}, c: {<<: *x, d: 2}}", {"a": {"b": 1}, "c": {"b": 1, "d": 2}}),
    ],
)
def test_values_are_read_as_pulumi_reads_them(text: str, value: object) -> None:
    assert read(text) == value


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: [", "line 1, column 5"),
        ("a: b: c", "mapping values are not allowed here"),
        ("\tx", "cannot start any token"),
        ("--- a\n--- b", "another document"),
        ("*x", "undefined alias"),
        ("\x00", "character 0x0 at 0 cannot stand there"),
        ("\ufffe", "cannot stand there"),
        ("a: 1\na: 2", r"the key a is there twice \(line 2, column 1\)"),
        ("{1: a}", "the key 1 is not text: put it in quotes"),
        ("{null: a}", "the key null is not text"),
        ("{[1, 2]: a}", "the key is not text"),
        ("&a [*a]", "it refers to itself"),
        ("&a {b: {c: *a}}", "it refers to itself"),
        ("<<: 1", "expected a mapping"),
        (BOMB, "it holds over 100000 values"),
        ("[" * 700, "nested too deep"),
        ("[" * 600 + "]" * 600, "nested too deep"),
        ('"\\ud800"', "half of a character pair"),
        ('{"\\ud800": 1}', "half of a character pair"),
        ("9" * 5000, "not of the type"),
        ("9223372036854775808", "has too many digits"),
        ("1e999", "is too large for a number"),
        ("!!bool yes", "'yes' is written as bool"),
        ("!!int 1.5", "'1.5' is written as int"),
        ("!!int x", "not of the type"),
        ('!!int ""', "not of the type"),
        ("!!float x", "not of the type"),
        ("!!bool x", "not of the type"),
        ("!!timestamp x", "could not determine a constructor"),
        ("!!timestamp 2026-12-31", "could not determine a constructor"),
        ("!!binary x", "could not determine a constructor"),
        ("!!python/object:os.system x", "could not determine a constructor"),
        ("!x y", "could not determine a constructor"),
    ],
)
def test_what_is_no_setting_is_refused_in_one_line(text: str, says: str) -> None:
    with pytest.raises(YAMLTextError, match=says) as caught:
        read(text)

    assert "\n" not in str(caught.value)
