"""Figures against the engine's own stamps, on one virtual clock: whatever is off here is the client's logic."""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmark.killer import Killed
from benchmark.scrape import CounterError
from benchmark.session import SessionError
from experiment.kinds.alone import Idle, OneUser, PromptLength
from experiment.kinds.loads import Concurrency, Loss, OpenLoop, Soak, Victim
from experiment.kinds.profiles import Objective, Profiles, Share
from experiment.kinds.sharing import FollowUp, Interference, Modes
from experiment.measure.counters import STEPS
from experiment.measure.part import percentile
from tests.benchmark.lab import MODEL, Lab, StandIn, in_lab, off

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize("users", [1, 8, 64])
@pytest.mark.parametrize("profile", ["post-1b-single", "fast"])
def test_times_to_the_first_token_and_gaps_are_the_engines(tmp_path: Path, users: int, profile: str) -> None:
    async def main(lab: Lab) -> None:
        engine = await lab.engine(profile)
        test = Concurrency(kind="concurrency", users=(users,), output_tokens=40, requests=2, repeats=1)
        (record,) = await lab.measure(lab.serve("engine", engine), test)
        ttft, gaps = [], []
        for request, reply in zip(record.requests, record.replies, strict=True):
            truth = engine.truths[request.id]
            assert reply.tokens.in_chunks == tuple(tokens for _, tokens in truth.writes)
            ttft.append((reply.figures.ttft_s, truth.ttft_s))
            gaps += list(zip(reply.figures.gaps_s, truth.gaps_s, strict=True))
        assert (len(ttft), len(gaps)) == (2 * users, 2 * users * 39)
        assert max(off(*pair) for pair in ttft + gaps) <= 1
        load = record.figures.load
        assert load is not None
        assert load.ttft_s is not None
        assert load.gaps_s is not None
        for figure, pairs in ((load.ttft_s, ttft), (load.gaps_s, gaps)):
            true = sorted(pair[1] for pair in pairs)
            assert off(figure.p99, percentile(true, 99)) <= 1
            assert off(figure.mean, sum(true) / len(true)) <= 1
            assert figure.p50 > 0.001

    in_lab(tmp_path, main)


def test_a_first_token_waits_for_a_prompt_as_long_as_the_engine_reads_it(tmp_path: Path) -> None:
    async def main(lab: Lab) -> None:
        engine = await lab.engine("post-1b-single")
        test = PromptLength(kind="prompt-length", repeats=1)
        records = await lab.measure(lab.serve("engine", engine), test)
        assert sorted(str(record.value) for record in records) == ["100", "1000", "2000", "3500", "500"]
        for record in records:
            (request,), (reply,) = record.requests, record.replies
            assert request.prompt.prompt_tokens == record.value == reply.tokens.prompt
            assert record.prompt_ids == "tokenize"
            assert off(reply.figures.ttft_s, engine.truths[request.id].ttft_s) <= 1
        longest = max(record.replies[0].figures.ttft_s for record in records)
        assert 5 < longest < 7, "about six seconds in the 1B post"

    in_lab(tmp_path, main)


@pytest.mark.parametrize("profile", ["post-1b-single", "post-1b-split"])
def test_a_stall_is_the_engines(tmp_path: Path, profile: str) -> None:
    async def main(lab: Lab) -> None:
        flags = ["--pipeline-parallel-size=2"] if profile.endswith("split") else []
        engine = await lab.engine(profile, *flags)
        (record,) = await lab.measure(
            lab.serve("engine", engine), Interference(kind="interference", repeats=1), replicas=[lab.endpoint("engine")]
        )
        stream, long = (engine.truths[request.id] for request in record.requests)
        assert long.read_s - stream.read_s == pytest.approx(4, abs=1e-6)
        figures = record.figures.interference
        assert figures is not None
        before = [gap for gap, (at, _) in zip(stream.gaps_s, stream.writes[1:], strict=True) if at < long.read_s]
        later = [gap for gap, (at, _) in zip(stream.gaps_s, stream.writes[1:], strict=True) if at > long.read_s]
        baseline = sorted(before)[len(before) // 2]
        assert off(figures.baseline_gap_s, baseline) <= 1
        assert off(figures.longest_gap_s, max(later)) <= 1
        assert off(figures.stall_s, max(later) - baseline) <= 1
        assert off(figures.long_ttft_s, long.ttft_s) <= 1
        # All that the stream is late by at its end, against one that nobody disturbs.
        lost = stream.writes[-1][0] - stream.writes[0][0] - baseline * 255
        assert figures.slowed_s == pytest.approx(lost, rel=0.01)
        assert figures.same_replica is True

    in_lab(tmp_path, main)


def test_a_stream_that_is_faster_than_the_plan_thought_is_stalled_too(tmp_path: Path) -> None:
    async def main(lab: Lab) -> None:
        engine = await lab.engine("fast")  # 256 tokens are over in 1.3 s, and the prompt is due after 4
        (record,) = await lab.measure(lab.serve("engine", engine), Interference(kind="interference", repeats=1))
        stream, long = (engine.truths[request.id] for request in record.requests)
        before = sum(tokens for at, tokens in stream.writes if at < long.read_s)
        assert before == pytest.approx(128, abs=5)
        figures = record.figures.interference
        assert figures is not None
        assert off(figures.longest_gap_s, max(stream.gaps_s)) <= 1

    in_lab(tmp_path, main)


def test_a_follow_up_is_proven_by_the_servers_own_count(tmp_path: Path) -> None:
    async def main(lab: Lab) -> None:
        engine = await lab.engine("post-1b-single", "--enable-prompt-tokens-details")
        records = await lab.measure(lab.serve("engine", engine), FollowUp(kind="follow-up"))
        assert len(records) == 3
        for record in records:
            figures = record.figures.follow_up
            assert figures is not None
            assert (figures.warm_queries, figures.warm_hits, figures.cold_hits) == (2847, 2816, 0), "as in the 1B post"
            roles = {request.role: request for request in record.requests}
            warm, cold = (engine.truths[roles[role].id].ttft_s for role in ("second-turn", "control"))
            assert off(figures.warm_ttft_s, warm) <= 1
            assert off(figures.cold_ttft_s, cold) <= 1
            cached = [reply.tokens.cached for reply in record.replies]
            assert sorted(value or 0 for value in cached) == [0, 0, 2816]
        orders = {tuple(request.role for request in record.requests) for record in records}
        assert orders <= {("control", "first-turn", "second-turn"), ("first-turn", "second-turn", "control")}

    in_lab(tmp_path, main)


def test_of_two_replicas_behind_one_address_it_is_known_which_one_answered(tmp_path: Path) -> None:
    async def main(lab: Lab) -> None:
        engines = [await lab.engine("post-1b-single") for _ in range(2)]
        replicas = [lab.serve(f"replica-{number}", engine) for number, engine in enumerate(engines)]
        service = lab.serve("service", *engines)
        tests = (
            FollowUp(kind="follow-up", routes=("service", "replica"), repeats=4),
            Interference(kind="interference", repeats=2),
        )
        records = await lab.measure(service, *tests, replicas=replicas)
        urls = [replica.url for replica in replicas]
        hits = {}
        for record in records:
            for request in record.requests:
                owner = next(number for number, engine in enumerate(engines) if request.id in engine.truths)
                assert request.served_by == urls[owner], record.cell
            figures = record.figures.follow_up
            if figures is not None:
                hits[record.value, figures.same_replica] = figures.warm_hits
            if record.figures.interference is not None:
                stream, long = record.requests
                assert record.figures.interference.same_replica is (stream.served_by == long.served_by)
        assert hits["service", False] == 0, "the cache is a replica's own"
        assert hits["replica", True] == 2816
        assert ("replica", False) not in hits

    in_lab(tmp_path, main)


def test_both_modes_of_a_split_and_their_shares_are_the_engines(tmp_path: Path) -> None:
    async def main(lab: Lab) -> None:
        engine = await lab.engine("trial-split", "--pipeline-parallel-size=2", frontend_spread=0.5)
        test = Modes(kind="modes", repeats=4)
        records = await lab.measure(lab.serve("engine", engine), test)
        assert len(records) == 12
        found: dict[str, set[str | None]] = {"together": set(), "staggered": set(), "returning": set()}
        for record in records:
            ids = {request.id for request in record.requests}
            truths = [engine.truths[name] for name in ids]
            begin, end = min(one.read_s for one in truths), max(one.writes[-1][0] for one in truths)
            steps = sum(begin < step.at_s <= end for step in engine.steps)
            figures = record.figures.steps
            assert figures is not None
            assert figures.steps == steps
            assert figures.steps_per_token == steps / 80
            assert figures.mode == ("apart" if steps > 150 else "merged" if steps < 105 else None)
            true = sorted(gap for one in truths for gap in one.gaps_s)
            assert record.figures.load is not None
            assert record.figures.load.gaps_s is not None
            assert off(record.figures.load.gaps_s.p50, percentile(true, 50)) <= 1
            found[str(record.value)].add(figures.mode)
        assert found["staggered"] == {"merged"}
        assert "apart" in found["together"]

    in_lab(tmp_path, main)


def test_gaps_that_lock_on_to_the_quota_period_are_the_engines(tmp_path: Path) -> None:
    async def main(lab: Lab) -> None:
        engine = await lab.engine("trial-quota", "--pipeline-parallel-size=2", cpu_quota_s=0.06)
        (record,) = await lab.measure(
            lab.serve("engine", engine), OneUser(kind="one-user", output_tokens=80, repeats=1)
        )
        (request,), (reply,) = record.requests, record.replies
        pairs = list(zip(reply.figures.gaps_s, engine.truths[request.id].gaps_s, strict=True))
        assert max(off(*pair) for pair in pairs) <= 1
        assert percentile(sorted(reply.figures.gaps_s), 50) == pytest.approx(0.1, abs=0.002), "the quota's period"

    in_lab(tmp_path, main)


def test_several_tokens_in_one_chunk_are_counted_as_such(tmp_path: Path) -> None:
    async def main(lab: Lab) -> None:
        engine = await lab.engine("post-1b-single", "--stream-interval=4")
        (record,) = await lab.measure(
            lab.serve("engine", engine), OneUser(kind="one-user", output_tokens=21, repeats=1)
        )
        (reply,) = record.replies
        assert reply.tokens.in_chunks == (1, 4, 4, 4, 4, 4)
        step = 0.0449 + 0.0025
        assert off(reply.figures.tpot_s or 0, step) <= 1
        assert off(reply.figures.itl_s or 0, 4 * step) <= 1

    in_lab(tmp_path, main)


def test_arrivals_are_sent_at_the_moments_that_the_seed_fixes(tmp_path: Path) -> None:
    async def main(lab: Lab) -> None:
        engine = await lab.engine("fast")
        test = OpenLoop(kind="open-loop", rates=(2.0,), seconds=60, output_tokens=20, repeats=2)
        service = lab.serve("engine", engine)
        records = await lab.measure(service, test)
        moments = []
        for record in records:
            due = [request.outcome.stamps.due_s for request in record.requests if request.outcome.stamps]
            sent = [engine.truths[request.id].read_s for request in record.requests]
            assert due == pytest.approx(sent, abs=1e-6)
            begin = min(at for at in due if at is not None)
            moments.append([round(at - begin, 6) for at in due if at is not None])
            assert 80 < len(due) < 160, "about 120"
            assert record.figures.load is not None
            assert record.figures.load.failed == 0
            assert record.verdict is not None
            assert not record.verdict.client_limited
        assert moments[0] != moments[1]

    in_lab(tmp_path, main)


def test_a_starved_client_says_so_and_by_how_much(tmp_path: Path) -> None:
    async def main(lab: Lab) -> None:
        engine = await lab.engine("fast")
        service = lab.serve("engine", engine)

        def starve() -> None:
            lab.loop.burn(0.03)
            lab.loop.call_later(0.06, starve)

        lab.loop.call_later(0, starve)
        (record,) = await lab.measure(service, OneUser(kind="one-user", repeats=1))
        assert record.verdict is not None
        assert record.verdict.client_limited
        assert "event loop was" in record.verdict.reasons[0]
        assert record.verdict.use.lag_s is not None
        assert record.verdict.use.lag_s.max == pytest.approx(0.03, abs=0.021)
        assert any("CLIENT-LIMITED" in line for line in lab.said)

    in_lab(tmp_path, main)


def test_a_client_with_time_to_spare_is_not_limited(tmp_path: Path) -> None:
    async def main(lab: Lab) -> None:
        engine = await lab.engine("fast")
        (record,) = await lab.measure(lab.serve("engine", engine), OneUser(kind="one-user", repeats=1))
        assert record.verdict is not None
        assert (record.verdict.client_limited, record.verdict.reasons) == (False, ())
        assert not any("CLIENT-LIMITED" in line for line in lab.said)

    in_lab(tmp_path, main)


def test_an_idle_engine_is_asked_nothing(tmp_path: Path) -> None:
    async def main(lab: Lab) -> None:
        engine = await lab.engine("fast")
        (record,) = await lab.measure(lab.serve("engine", engine), Idle(kind="idle", seconds=60))
        assert record.requests == ()
        assert record.counters.change(STEPS) == 0
        (server,) = record.counters.servers
        assert len(server.each_second) in (59, 60)
        assert server.after.asked_s - server.before.asked_s >= 60

    in_lab(tmp_path, main)


def _telling(engine: StandIn, change: Callable[[str], str]) -> None:
    """Let `change` have the last word on what the engine's `/metrics` says."""
    text = engine.observations.text
    engine.observations.text = lambda: change(text())  # type: ignore[method-assign]


def test_a_server_that_was_started_anew_disturbs_and_both_records_are_kept(tmp_path: Path) -> None:
    async def main(lab: Lab) -> None:
        engine = await lab.engine("post-1b-single")
        begin_s = lab.loop.time()

        def told(text: str) -> str:
            started_s = 100 if lab.loop.time() < begin_s + 5 else 200
            return re.sub(r"(?m)^process_start_time_seconds .*$", f"process_start_time_seconds {started_s}", text)

        _telling(engine, told)
        (record,) = await lab.measure(lab.serve("engine", engine), OneUser(kind="one-user", repeats=1))
        (disturbed,) = lab.records("disturbed/*.json")
        assert disturbed.disturbed == ("http://engine:8000 was started anew",)
        assert disturbed.result == record.result == "finished"
        assert record.disturbed == ()
        assert any("disturbed, measured once more" in line for line in lab.said)

    in_lab(tmp_path, main)


def test_tokens_that_nobody_here_asked_for_disturb(tmp_path: Path) -> None:
    async def main(lab: Lab) -> None:
        engine = await lab.engine("post-1b-single")
        endpoint = lab.serve("engine", engine)

        async def somebody_else() -> None:
            await asyncio.sleep(3)
            connection = await endpoint.open(5)
            await endpoint.complete(connection, MODEL, [300] * 20, 50, 60)
            connection.abort()

        others = asyncio.ensure_future(somebody_else())
        (record,) = await lab.measure(endpoint, OneUser(kind="one-user", repeats=1))
        await others
        (disturbed,) = lab.records("disturbed/*.json")
        assert disturbed.disturbed == (
            "the servers generated 250 tokens where 200 were received: somebody else asked them too",
        )
        assert record.disturbed == ()

    in_lab(tmp_path, main)


def test_of_replicas_that_nobody_named_no_steps_are_told(tmp_path: Path) -> None:
    async def main(lab: Lab) -> None:
        engines = [await lab.engine("fast") for _ in range(2)]
        test = Concurrency(kind="concurrency", users=(4,), output_tokens=20, repeats=1)
        (record,) = await lab.measure(lab.serve("service", *engines), test)
        assert record.figures.steps is None
        assert any("others answered, whose counters were not read" in one for one in record.unwatched)
        assert record.disturbed == ()

    in_lab(tmp_path, main)


def test_a_counter_that_the_version_has_and_the_server_lacks_ends_the_session(tmp_path: Path) -> None:
    async def main(lab: Lab) -> None:
        engine = await lab.engine("fast")
        _telling(engine, lambda text: text.replace("vllm:iteration_tokens_total_count", "vllm:else"))
        with pytest.raises(CounterError, match="should tell vllm:iteration_tokens_total_count"):
            await lab.measure(lab.serve("engine", engine), Idle(kind="idle", seconds=1))
        assert lab.records() == []

    in_lab(tmp_path, main)


def test_a_long_load_shows_its_drift(tmp_path: Path) -> None:
    async def main(lab: Lab) -> None:
        engine = await lab.engine("fast")
        pipeline = engine.server.engine.core.pipeline

        def slow() -> None:
            pipeline.profile = pipeline.profile.model_copy(update={"step_s": pipeline.profile.step_s + 0.0001})
            lab.loop.call_later(1, slow)

        lab.loop.call_later(1, slow)
        test = Soak(kind="soak", users=2, seconds=30, output_tokens=50)
        (record,) = await lab.measure(lab.serve("engine", engine), test)
        drift = record.figures.drift
        assert drift is not None
        assert drift.slope_s_per_hour == pytest.approx(0.0001 * 3600, rel=0.03)
        assert drift.last_tenth_s - drift.first_tenth_s == pytest.approx(0.0027, rel=0.05)

    in_lab(tmp_path, main)


def test_goodput_counts_what_keeps_the_objective(tmp_path: Path) -> None:
    async def main(lab: Lab) -> None:
        engine = await lab.engine("post-1b-single")
        test = Profiles(
            kind="profiles",
            profiles=("chat",),
            mix=(Share(prompt_tokens=100, output_tokens=20), Share(prompt_tokens=3000, output_tokens=20)),
            objective=Objective(ttft_s=2.0, tpot_s=None, longest_gap_s=None),
            rates=(0.05,),
            seconds=400,
        )
        (record,) = await lab.measure(lab.serve("engine", engine), test)
        good = sum(engine.truths[request.id].ttft_s <= 2 for request in record.requests)
        assert record.figures.goodput is not None
        assert 0 < good < len(record.requests)
        assert record.figures.goodput.good == good
        assert record.figures.goodput.share == good / len(record.requests)
        assert not record.figures.goodput.kept

    in_lab(tmp_path, main)


class _Killer:
    """Kills the engine behind an address, and brings another up some time later."""

    def __init__(self, lab: Lab, host: str, victim: StandIn, heir: StandIn, away_s: float) -> None:
        self.lab, self.host, self.victim, self.heir, self.away_s = lab, host, victim, heir, away_s
        self.killed: list[Victim] = []

    async def kill(self, victim: Victim) -> Killed:
        self.killed.append(victim)
        killed_s = self.lab.loop.time()
        self.victim.server.engine.die()
        del self.lab.loop.hosts[self.host]
        self.lab.loop.call_later(self.away_s, lambda: self.lab.serve(self.host, self.heir))
        return Killed("exp-0", killed_s)


def test_the_loss_of_a_pod_is_timed(tmp_path: Path) -> None:
    async def main(lab: Lab) -> None:
        engines = [await lab.engine("post-1b-single") for _ in range(2)]
        endpoint = lab.serve("engine", engines[0])
        killer = _Killer(lab, "engine", engines[0], engines[1], away_s=60)
        test = Loss(kind="loss", users=2, seconds=200)
        (record,) = await lab.measure(endpoint, test, killer=killer)
        outage = record.figures.outage
        assert killer.killed == ["leader"]
        assert outage is not None
        assert outage.failed >= 2
        times = sorted(at for engine in engines for one in engine.truths.values() for at, _ in one.writes)
        before = max(at for at in times if at <= outage.killed_s)
        after = min(at for at in times if at > outage.killed_s + 59)
        assert outage.silent_s == pytest.approx(after - before, abs=0.001)
        assert outage.full_speed_s == pytest.approx(after - outage.killed_s, abs=1)
        assert record.disturbed == ()
        assert record.killed == "exp-0"

    in_lab(tmp_path, main)


def test_a_loss_test_without_a_killer_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    async def main(lab: Lab) -> None:
        engine = await lab.engine("fast")
        with pytest.raises(SessionError, match="kills a pod, and this client may not"):
            await lab.measure(lab.serve("engine", engine), OneUser(kind="one-user"), Loss(kind="loss"))
        assert lab.records() == []
        assert not engine.truths

    in_lab(tmp_path, main)


def test_shapes_depend_on_what_is_sent_and_not_on_what_else_is_measured(tmp_path: Path) -> None:
    async def main(lab: Lab) -> None:
        service = lab.serve("engine", await lab.engine("fast"))

        async def shape(test: Concurrency, where: str) -> str:
            plan = lab.plan(test, run=where)
            await lab.session(plan, service).run()
            record = lab.store(plan).finished("concurrency-2", 1)
            assert record is not None
            return record.prompt.shape_hash

        base = Concurrency(kind="concurrency", users=(2,), output_tokens=10, repeats=1)
        same = await shape(base.model_copy(update={"users": (1, 2), "repeats": 2}), "more")
        assert await shape(base, "base") == same
        assert await shape(base.model_copy(update={"requests": 3}), "longer") != same
        assert await shape(base.model_copy(update={"prompt_tokens": 65}), "wider") != same

    in_lab(tmp_path, main)
