import json
import threading
from pathlib import Path

import pytest

from benchmark.lease import Lease, RunLeasedError


def lease(path: Path, **changes: object) -> Lease:
    fields: dict[str, object] = {"path": path / "lease", "holder": "us", "boot": "here", "sleep": lambda _: None}
    return Lease(**(fields | changes))  # type: ignore[arg-type]


def left(path: Path, boot: str, renewed: int = 1) -> None:
    (path / "lease").write_text(json.dumps({"token": "t", "holder": "them", "boot": boot, "renewed": renewed}))


def test_a_lease_is_there_while_it_is_held_and_gone_after(tmp_path: Path) -> None:
    with lease(tmp_path).held():
        assert json.loads((tmp_path / "lease").read_text())["holder"] == "us"
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_of_this_machine_left_is_taken_at_once(tmp_path: Path) -> None:
    left(tmp_path, "here")

    def never(_: float) -> None:
        raise AssertionError("it must not wait")

    with lease(tmp_path, sleep=never).held():
        assert json.loads((tmp_path / "lease").read_text())["holder"] == "us"


def test_a_lease_of_another_machine_that_nobody_renews_ends(tmp_path: Path) -> None:
    left(tmp_path, "there")
    waited: list[float] = []
    with lease(tmp_path, sleep=waited.append, seconds=30.0).held():
        assert json.loads((tmp_path / "lease").read_text())["holder"] == "us"
    assert sum(waited) == 30


def test_a_lease_of_another_machine_that_is_renewed_is_respected(tmp_path: Path) -> None:
    left(tmp_path, "there")
    renewals = iter(range(1, 100))

    def renew(_: float) -> None:
        left(tmp_path, "there", renewed=1 + (next(renewals) > 9))

    with pytest.raises(RunLeasedError, match="is being measured already, by them"), lease(tmp_path, sleep=renew).held():
        pytest.fail("it was held")
    assert json.loads((tmp_path / "lease").read_text())["holder"] == "them"


def test_a_lease_is_renewed_and_a_lost_one_is_noticed_and_left_alone(tmp_path: Path) -> None:
    lost = threading.Event()
    with lease(tmp_path, seconds=0.03, on_lost=lost.set).held():
        for _ in range(1000):
            if json.loads((tmp_path / "lease").read_text())["renewed"] > 2:
                break
            threading.Event().wait(0.01)
        else:
            pytest.fail("it was not renewed")
        while not lost.is_set():
            left(tmp_path, "there")
            lost.wait(0.01)
    assert json.loads((tmp_path / "lease").read_text())["holder"] == "them"


def test_a_damaged_lease_is_none(tmp_path: Path) -> None:
    (tmp_path / "lease").write_text("[")
    with lease(tmp_path).held():
        pass
    assert list(tmp_path.iterdir()) == []
