from pathlib import Path

import pytest

from rehearsal.home import HomeError, home


@pytest.mark.parametrize(
    ("variables", "place"),
    [
        ({"SPLITBED_HOME": "here"}, "{cwd}/here"),
        ({"SPLITBED_HOME": "~/x", "XDG_CACHE_HOME": "/c"}, "{user}/x"),
        ({"XDG_CACHE_HOME": "c"}, "{cwd}/c/splitbed"),
        ({}, "{user}/.cache/splitbed"),
    ],
)
def test_it_is_absolute_wherever_it_was_asked_for(
    variables: dict[str, str], place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SPLITBED_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)

    assert home() == Path(place.format(cwd=tmp_path, user=tmp_path / "user"))


def test_a_home_of_nobody_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPLITBED_HOME", "~no-such-user/x")

    with pytest.raises(HomeError, match="SPLITBED_HOME=~no-such-user/x is not known"):
        home()


def test_a_user_without_a_home_is_told_to_name_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("SPLITBED_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", homeless)

    with pytest.raises(HomeError, match="of this user is not known"):
        home()
