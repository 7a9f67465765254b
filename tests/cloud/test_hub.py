"""Where a model is, and whether it may be read; a token is sent and never said."""

from pathlib import Path

import pytest

from cloud import hub
from tests.cloud.places import Places

HUB, TOKEN, SHA = "https://hub.invalid", "hf_planted_secret", "a" * 40


def test_the_commit_of_the_main_branch() -> None:
    places = Places()
    places.says(f"{HUB}/api/models/o/m/revision/main", {"sha": SHA, "gated": "manual"})

    assert hub.look_up("o/m", places, HUB) == hub.HubModel(SHA, gated=True)
    assert "Authorization" not in places.asked[0][1]


def test_a_model_that_is_not_there_or_not_for_us() -> None:
    with pytest.raises(hub.HubError, match="no model o/m"):
        hub.look_up("o/m", Places(), HUB, TOKEN)


def test_an_answer_without_a_commit_is_refused() -> None:
    places = Places()
    places.says(f"{HUB}/api/models/o/m/revision/main", ["?"])

    with pytest.raises(hub.HubError, match="names no commit"):
        hub.look_up("o/m", places, HUB)


@pytest.mark.parametrize(
    ("status", "bearer", "why"),
    [
        (200, TOKEN, None),
        (401, None, "sign in"),
        (401, TOKEN, "does not know"),
        (403, TOKEN, "may not"),
        (404, TOKEN, "no such"),
    ],
)
def test_why_a_model_cannot_be_read(status: int, bearer: str | None, why: str | None) -> None:
    places = Places()
    places.says(f"{HUB}/o/m/resolve/{SHA}/config.json", {}, status)

    found = hub.readable("o/m", SHA, places, HUB, bearer)

    assert (found is None) if why is None else (found is not None and why in found)
    assert TOKEN not in str(found)
    assert places.asked[0][1] == ({"Authorization": f"Bearer {TOKEN}"} if bearer else {})


def test_the_token_is_looked_for_where_others_keep_it(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("from a file\n")

    assert hub.token({"HF_TOKEN": " given\n", "HF_HOME": str(tmp_path)}) == "given"
    assert hub.token({"HF_HOME": str(tmp_path)}) == "from a file"
    assert hub.token({"HF_HOME": str(tmp_path / "none")}) is None
    assert hub.address({"HF_ENDPOINT": f"{HUB}/"}) == HUB
