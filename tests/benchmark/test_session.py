import time
from pathlib import Path

import pytest

from benchmark.endpoint import Endpoint
from benchmark.session import Session, SessionError, Surroundings, Tally
from benchmark.store import Store
from experiment.record import RepeatRecord
from experiment.workload import OneUser, Plan
from tests.benchmark.records import CLIENT
from tests.benchmark.server import MODEL, Server

SHORT = OneUser(kind="one-user", name="short", prompt_tokens=16, output_tokens=20, repeats=2)
LONG = OneUser(kind="one-user", name="long", prompt_tokens=64, output_tokens=30, repeats=1)
PLAN = Plan(
    run="r",
    model=MODEL,
    seed=1,
    tests=(SHORT, LONG),
    order="listed",
    calibrate=False,
    request_timeout_s=20.0,
    ready_timeout_s=20.0,
)


class Setting:
    def __init__(self, server: Server, results: Path) -> None:
        self.server = server
        self.said: list[str] = []
        self.store = Store(results, PLAN.run, PLAN.hash)
        self.store.prepare()

    def session(self) -> Session:
        endpoint = Endpoint(self.server.url, time.monotonic)
        return Session(PLAN, endpoint, self.store, CLIENT, Surroundings(), self.said.append)

    def lengths(self) -> list[tuple[int, int]]:
        return [(len(request["prompt"]), request["max_tokens"]) for request in self.server.completions]


@pytest.fixture
def setting(server: Server, tmp_path: Path) -> Setting:
    return Setting(server, tmp_path)


GATE = (8, 1)


async def test_every_test_is_warmed_up_with_its_own_prompt_and_then_measured(setting: Setting) -> None:
    session = setting.session()
    await session.run()
    assert setting.lengths() == [GATE, (16, 16), (16, 20), (16, 20), (64, 16), (64, 30), GATE]
    assert str(session.tally) == "3 of 3 repeats measured, 0 failed"
    short = setting.store.finished("short", 1), setting.store.finished("short", 2)
    assert isinstance(short[0], RepeatRecord)
    assert isinstance(short[1], RepeatRecord)
    assert short[0].prompt == short[1].prompt
    assert short[0].started_at < short[1].started_at


async def test_a_resumed_session_warms_up_and_measures_only_what_is_left(setting: Setting) -> None:
    setting.server.faults.extend([None, "500"])
    await setting.session().run()
    setting.server.completions.clear()
    session = setting.session()
    await session.run()
    assert setting.lengths() == [GATE, (16, 16), (16, 20), GATE]
    assert session.tally == Tally(planned=3, before=2, measured=1, failed=0)
    assert str(session.tally) == "3 of 3 repeats measured, 2 of them earlier, 0 failed"


async def test_a_warm_up_that_fails_ends_the_session_before_anything_is_measured(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    complete = setting.server._complete

    async def fail_warm_up(request: dict[str, object], fault: str | None, writer: object) -> None:
        await complete(request, "500" if request["max_tokens"] == 16 else fault, writer)  # type: ignore[arg-type]

    monkeypatch.setattr(setting.server, "_complete", fail_warm_up)
    session = setting.session()
    with pytest.raises(SessionError, match="the warm-up of test short failed: the server answered 500"):
        await session.run()
    assert session.tally.measured == 0
    assert not list(setting.store.directory.rglob("*.json"))


async def test_a_record_holds_stamps_of_this_machines_monotonic_clock(setting: Setting) -> None:
    before_s = time.monotonic()
    await setting.session().run()
    record = setting.store.finished("long", 1)
    assert record is not None
    (reply,) = record.replies
    stamps = reply.stamps
    assert before_s < stamps.sent_s < stamps.chunks_s[0] < stamps.chunks_s[-1]
    assert stamps.end_s is not None
    assert stamps.chunks_s[-1] <= stamps.end_s < time.monotonic()
