"""From the command line of the init container to files on a disk, and sentences."""

import json
import re
from pathlib import Path

import pytest

from components.pod.weights.__main__ import PAUSE_S, main
from tests.components.pod.weights.conftest import FILES, Clock
from tests.components.pod.weights.hubserver import COMMIT, Hub

WANTED = {name: content for name, content in FILES.items() if not name.endswith((".bin", ".pth"))}
TOKEN = "hf_planted0123456789"  # noqa: S105  opens nothing


def fetch(place: Path, *more: str, model: str = "google/gemma-3-1b-it", revision: str = COMMIT) -> int:
    into = ["--source", "hub", "--model", model, "--revision", revision, "--into", str(place)]
    return main([*into, "--token-held-in", "the Secret hub-token", *more])


def there(place: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(place)): path.read_bytes()
        for path in place.rglob("*")
        if path.is_file() and path.name != ".splitbed.json"
    }


def test_the_files_that_an_engine_reads_are_fetched_and_checked(hub: Hub, tmp_path: Path) -> None:
    assert fetch(tmp_path / "w") == 0
    assert there(tmp_path / "w") == WANTED


def test_what_is_there_is_not_asked_for_again(hub: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fetch(tmp_path / "w")
    hub.asked.clear()
    assert fetch(tmp_path / "w") == 0
    assert hub.asked == []
    assert "weights are there: 4 files, 0.00 GiB; nothing is fetched" in capsys.readouterr().out


@pytest.mark.parametrize("spoil", ["shorter", "gone", "unmarked"])
def test_what_is_not_as_it_was_is_fetched_again(hub: Hub, tmp_path: Path, spoil: str) -> None:
    place = tmp_path / "w"
    fetch(place)
    if spoil == "shorter":
        (place / "model.safetensors").write_bytes(b"cut")
    elif spoil == "gone":
        (place / "model.safetensors").unlink()
    else:
        (place / ".splitbed.json").write_text("{")
    hub.asked.clear()
    assert fetch(place) == 0
    assert there(place) == WANTED
    assert hub.fetched() == ([] if spoil == "unmarked" else ["model.safetensors"])


def test_a_broken_connection_is_gone_on_from_where_it_broke(hub: Hub, tmp_path: Path, clock: Clock) -> None:
    hub.cuts["model.safetensors"] = 4000
    assert fetch(tmp_path / "w") == 0
    assert there(tmp_path / "w") == WANTED
    ranges = [one.range for one in hub.asked if one.host == "store" and "model" in one.path]
    assert ranges == ["", "bytes=4000-"]


def test_what_a_killed_pod_left_is_gone_on_with(hub: Hub, tmp_path: Path) -> None:
    place = tmp_path / "w"
    place.mkdir()
    (place / "model.safetensors.part").write_bytes(FILES["model.safetensors"][:6000])
    assert fetch(place) == 0
    assert there(place) == WANTED
    assert [one.range for one in hub.asked if one.host == "store" and "model" in one.path] == ["bytes=6000-"]


@pytest.mark.parametrize("left", [b"x" * 6000, FILES["model.safetensors"] + b"more"], ids=["another", "longer"])
def test_what_was_left_and_is_of_something_else_is_thrown_away(hub: Hub, tmp_path: Path, left: bytes) -> None:
    place = tmp_path / "w"
    place.mkdir()
    (place / "model.safetensors.part").write_bytes(left)
    assert fetch(place) == 0
    assert there(place) == WANTED


def test_a_store_without_ranges_gives_the_whole_again(hub: Hub, tmp_path: Path, clock: Clock) -> None:
    hub.no_ranges, hub.cuts["model.safetensors"] = True, 4000
    assert fetch(tmp_path / "w") == 0
    assert there(tmp_path / "w") == WANTED


@pytest.mark.parametrize("path", ["model.safetensors", "config.json"], ids=["sha256", "git"])
def test_a_wrong_checksum_is_fetched_again(
    hub: Hub, tmp_path: Path, path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    # The first question for config.json is whether we may read it.
    hub.spoilt[path] = 2 if path == "config.json" else 1
    assert fetch(tmp_path / "w") == 0
    assert there(tmp_path / "w") == WANTED
    assert f"{path}: came with another checksum" in capsys.readouterr().out


def test_what_always_has_a_wrong_checksum_is_refused(hub: Hub, tmp_path: Path, clock: Clock, message: Path) -> None:
    hub.spoilt["model.safetensors"] = 99
    assert fetch(tmp_path / "w") == 1
    assert message.read_text().startswith("model.safetensors cannot be had, because it came 3 times with another")
    assert not (tmp_path / "w" / "model.safetensors").exists()


def test_a_busy_store_is_asked_again(hub: Hub, tmp_path: Path, clock: Clock) -> None:
    hub.busy = 3
    assert fetch(tmp_path / "w") == 0
    assert there(tmp_path / "w") == WANTED


def test_a_store_that_stays_away_is_given_up(hub: Hub, tmp_path: Path, clock: Clock, message: Path) -> None:
    hub.busy = 10**6
    assert fetch(tmp_path / "w") == 1
    assert re.fullmatch(
        r"(model.safetensors|tokenizer.json) cannot be had, because http://127.0.0.1:\d+ answers 503, and nothing has "
        r"come for 300 s: .*",
        message.read_text(),
    )


def test_a_token_goes_to_the_hub_and_no_further(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.token = TOKEN
    monkeypatch.setenv("HF_TOKEN", f"{TOKEN}\n")
    assert fetch(tmp_path / "w") == 0
    assert {one.authorization for one in hub.asked if one.host == "hub"} == {f"Bearer {TOKEN}"}
    assert {one.authorization for one in hub.asked if one.host == "store"} == {""}


REFUSED = {
    "no token": (
        "google/gemma-3-1b-it at 0123456789ab cannot be fetched, because it is given only to those who bring a token, "
        "and this pod has none: accept its licence at {hub}/google/gemma-3-1b-it and name a token in model.token_secret"
    ),
    "not let in": (
        "google/gemma-3-1b-it at 0123456789ab cannot be fetched, because it is gated and this token's owner has not "
        "been let in (Access to model google/gemma-3-1b-it is restricted and you are not in the authorized list): "
        "accept its licence at "
        "{hub}/google/gemma-3-1b-it, or put a token of who did into the Secret hub-token; the pod tries again by itself"
    ),
    "another token": (
        "google/gemma-3-1b-it at 0123456789ab cannot be fetched, because the hub does not know this token or has no "
        "such model for it (Invalid credentials in Authorization header): put a token that holds into the Secret "
        "hub-token, and check model.name"
    ),
    "broken token": (
        "The Secret's key token holds no token of the hub, because it is empty or has blanks or line breaks in it: "
        "write the token alone into it"
    ),
    "no revision": (
        "google/gemma-3-1b-it at ffffffffffff cannot be fetched, because it has no such revision: mend model.revision"
    ),
    "no model": ("google/gemma at 0123456789ab cannot be fetched, because the hub has no such model: mend model.name"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_is_one_sentence_in_the_log_and_in_the_last_words(
    hub: Hub,
    tmp_path: Path,
    clock: Clock,
    message: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    case: str,
) -> None:
    hub.token, hub.let_in = TOKEN, case != "not let in"
    given = {"no token": None, "another token": "hf_other", "broken token": f"{TOKEN} {TOKEN}"}.get(case, TOKEN)
    if given is not None:
        monkeypatch.setenv("HF_TOKEN", given)
    model = "google/gemma" if case == "no model" else "google/gemma-3-1b-it"
    assert fetch(tmp_path / "w", model=model, revision="f" * 40 if case == "no revision" else COMMIT) == 1
    said = capsys.readouterr()
    assert message.read_text() == REFUSED[case].format(hub=hub.address)
    assert said.err == f"{message.read_text()}\n"
    assert TOKEN not in said.out + said.err
    assert hub.fetched() == []
    assert clock.slept[-1] == PAUSE_S


def test_a_hub_that_repeats_the_token_is_not_quoted_with_it(
    hub: Hub, tmp_path: Path, clock: Clock, message: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.token, hub.let_in, hub.model = TOKEN, False, TOKEN
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    # The model is called as the token, so the hub's own message repeats it.
    assert fetch(tmp_path / "w", model=TOKEN) == 1
    assert "Access to model (the token) is restricted" in message.read_text()


def test_a_disk_that_is_too_small_is_said_before_anything_is_fetched(
    hub: Hub, tmp_path: Path, clock: Clock, message: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Usage:
        free = 2**30

    monkeypatch.setattr("components.pod.weights.store.shutil.disk_usage", lambda _: Usage)
    assert fetch(tmp_path / "w") == 1
    assert "this node's disk has 1.00 GiB left: give the nodes a larger one (nodes.engine.disk_gib)" in (
        message.read_text()
    )
    assert hub.fetched() == []


def test_a_directory_that_is_not_ours_is_said(
    hub: Hub, tmp_path: Path, clock: Clock, message: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", denied)
    assert fetch(tmp_path / "w") == 1
    assert "the volume does not take them (Permission denied): on every engine node" in message.read_text()


def test_a_directory_that_is_there_is_looked_at(tmp_path: Path, clock: Clock, message: Path) -> None:
    look = ["--source", "directory", "--uri", "/models/gemma", "--into", str(tmp_path)]
    assert main(look) == 1
    assert message.read_text() == (
        "/models/gemma of this node holds no model that can be served, because there is no config.json in it: put the "
        "model's files there on every engine node, readable by everybody, or mend model.weights.uri"
    )
    (tmp_path / "config.json").write_text("{}")
    assert main(look) == 1
    assert "because there are no weights in it" in message.read_text()
    (tmp_path / "model-1.safetensors").write_bytes(b"w")
    assert main(look) == 0
    index = {"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    assert main(look) == 1
    assert "because model-2.safetensors is missing, which its index names" in message.read_text()
