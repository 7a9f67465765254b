"""Whole sessions in a cluster: pods that are lost, killed and replaced, on the virtual clock."""

from pathlib import Path

import pytest

from benchmark.cluster.proving import ProofError
from benchmark.cluster.surroundings import in_cluster
from benchmark.session import Surroundings
from experiment.asked import Asked
from experiment.kinds.alone import Idle, OneUser
from experiment.kinds.loads import Loss
from experiment.record import RepeatRecord
from tests.benchmark.cluster.double import Kubernetes, asked
from tests.benchmark.lab import Lab, StandIn, in_lab

pytestmark = pytest.mark.thorough

USER = OneUser(kind="one-user", prompt_tokens=32, output_tokens=40, repeats=2)
# Of the stand-in with the lab's flags.
SHAPE = asked(version="0.31.0", max_model_len=4096)


class Rig:
    """A lab whose one engine is a pod of a cluster; a pod that is deleted is replaced some time later."""

    def __init__(self, lab: Lab, kubernetes: Kubernetes, engine: StandIn, heir: StandIn) -> None:
        self.lab, self.kubernetes, self.engine = lab, kubernetes, engine
        self.heirs = [heir]
        self.endpoint = lab.serve("engine", engine)
        kubernetes.on_delete = lambda _: self.lose()

    @classmethod
    async def made(cls, lab: Lab, directory: Path, shape: Asked) -> "Rig":
        kubernetes = Kubernetes(lab.loop, directory, shape)
        await kubernetes.start()
        return cls(lab, kubernetes, await lab.engine("fast"), await lab.engine("fast"))

    def lose(self, away_s: float = 30) -> None:
        """Lose the pod and its engine; another one comes."""
        self.engine.server.engine.die()
        del self.lab.loop.hosts["engine"]
        self.kubernetes.pods.pop("exp-lab-0")
        self.lab.loop.call_later(away_s, self.replace)

    def replace(self) -> None:
        self.engine = self.heirs.pop()
        self.lab.serve("engine", self.engine)
        self.kubernetes.place_anew(0, 0)

    def surroundings(self, shape: Asked) -> Surroundings:
        client = self.kubernetes.client()
        return in_cluster(Surroundings(), shape, client, self.lab.loop.time, "system-0")

    async def measure(self, *tests: Idle | OneUser | Loss, shape: Asked) -> list[RepeatRecord]:
        around = self.surroundings(shape)
        given = {name: getattr(around, name) for name in ("witness", "prover", "killer", "peers")}
        return await self.lab.measure(self.endpoint, *tests, **given)


def test_each_record_has_the_pods_counters_and_the_proof(tmp_path: Path) -> None:
    async def main(lab: Lab) -> None:
        rig = await Rig.made(lab, tmp_path, SHAPE)
        records = await rig.measure(Idle(kind="idle", seconds=5), USER, shape=SHAPE)
        (idle,) = [record for record in records if record.test_kind == "idle"]
        for record in records:
            assert record.pods.unknown is None
            (pod,) = record.pods.pods
            assert pod.unknown is None
            assert pod.before is not None
            assert record.figures.pods[0].pod == "exp-lab-0"
            assert record.proof is not None
            assert record.proof.proven == ("pods", "places", "images", "arguments")
            (server,) = record.proof.servers
            assert (server.version, server.max_model_len) == ("0.31.0", 4096)
            assert server.kv_tokens is not None, "of vLLM's own description of its cache"
            assert (record.disturbed, record.unwatched) == ((), ())
        assert idle.figures.pods[0].seconds >= 5
        assert "as asked for: pods, places, images, arguments; not to be seen: servers: KV cache" in "\n".join(lab.said)

    in_lab(tmp_path / "results", main)


def test_a_mismatch_ends_the_run_before_anything_is_measured(tmp_path: Path) -> None:
    async def main(lab: Lab) -> None:
        rig = await Rig.made(lab, tmp_path, asked())
        wrong = asked(version="0.30.0", kv_tokens=1)
        with pytest.raises(
            ProofError, match=r"version of http://engine:8000 is 0\.31\.0, asked for was 0\.30\.0"
        ) as error:
            await rig.measure(USER, shape=wrong)
        assert "KV cache in tokens of http://engine:8000 is " in error.value.message
        assert lab.records() == []

    in_lab(tmp_path / "results", main)


@pytest.mark.parametrize("lost_after_s", [0.1, 0.3])
def test_a_repeat_in_which_a_pod_was_lost_is_marked_and_measured_once_more(tmp_path: Path, lost_after_s: float) -> None:
    async def main(lab: Lab) -> None:
        rig = await Rig.made(lab, tmp_path, SHAPE)
        around = rig.surroundings(SHAPE)
        assert around.witness is not None
        before, looks = around.witness.before, 0

        async def look() -> None:
            nonlocal looks
            looks += 1
            await before()
            if looks == 1:
                lab.loop.call_later(lost_after_s, rig.lose)

        around.witness.before = look  # type: ignore[method-assign]
        plan = lab.plan(USER)
        session = lab.session(plan, rig.endpoint, witness=around.witness, prover=around.prover, peers=around.peers)
        await session.run()

        (aside,) = lab.records("disturbed/*.json")
        assert any("exp-lab-0 is" in reason for reason in aside.disturbed)
        assert aside.pods.pods[0].unknown is not None
        finished = lab.records()
        assert [record.repeat for record in finished] == [1, 2]
        assert all(record.disturbed == () for record in finished)
        assert finished[-1].pods.pods[0].uid == "uid-2"
        assert str(session.tally) == "2 of 2 repeats measured, 0 failed"

    in_lab(tmp_path / "results", main)


def test_the_loss_test_kills_a_pod_and_the_run_goes_on_when_all_is_back(tmp_path: Path) -> None:
    async def main(lab: Lab) -> None:
        rig = await Rig.made(lab, tmp_path, SHAPE)
        rig.kubernetes.allowed.add(("delete", "pods"))
        loss = Loss(kind="loss", users=2, after_s=10, seconds=60, output_tokens=20)
        records = await rig.measure(loss, USER, shape=SHAPE)
        (killed,) = [record for record in records if record.test_kind == "loss"]
        assert killed.killed == "exp-lab-0"
        assert rig.kubernetes.deleted == ["exp-lab-0"]
        outage = killed.figures.outage
        assert outage is not None
        assert outage.silent_s == pytest.approx(30, abs=3)
        assert killed.disturbed == (), "it is what the test is"
        assert killed.pods.pods[0].unknown == "the pod is gone"
        assert len(records) == 3
        assert all(record.disturbed == () for record in records)

    in_lab(tmp_path / "results", main)


def test_a_pod_that_may_not_be_killed_fails_the_test_and_says_why(tmp_path: Path) -> None:
    async def main(lab: Lab) -> None:
        rig = await Rig.made(lab, tmp_path, SHAPE)
        loss = Loss(kind="loss", users=1, after_s=5, seconds=5, output_tokens=20)
        assert await rig.measure(loss, shape=SHAPE) == []
        (failed,) = lab.records("failed/*.json")
        assert failed.why.startswith("The leader could not be killed: The API server refuses")

    in_lab(tmp_path / "results", main)
