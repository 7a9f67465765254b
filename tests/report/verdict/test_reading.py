from pathlib import Path
from typing import Any

import pytest

from experiment.errors import SplitbedError
from experiment.measure.client import ClientUse
from experiment.measure.client import Verdict as OfTheClient
from experiment.measure.pods import Pods
from experiment.record import RepeatRecord
from report.statistics.design import Design
from report.verdict.reading import Named, label_of, read
from report.verdict.verdict import judge
from tests.benchmark.records import ENGINE, REAL, SHAPE, failure, repeat, reply, session
from tests.report.demonstration import pods_of
from tests.report.verdict.standin import SINGLE, SPLIT

USE = ClientUse(
    wall_s=1, cpu_s=1, quota_cores=None, periods=None, throttled_periods=None, throttled_s=None, lag_s=None, late_s=None
)
LIMITED = OfTheClient(client_limited=True, reasons=("it used 99 % of a core",), use=USE, calibration=None)


def write(directory: Path, *records: RepeatRecord) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    for number, record in enumerate(records):
        (directory / f"{number}.json").write_text(record.to_json())
    return directory


def test_what_is_unfit_is_named_and_in_no_figure(tmp_path: Path) -> None:
    write(
        tmp_path,
        repeat(1, engine=REAL),
        repeat(2, reply(9.0), engine=REAL, disturbed=("pod a was started anew",)),
        repeat(3, reply(9.0), engine=REAL, verdict=LIMITED),
        repeat(4, failure("it broke"), engine=REAL),
        repeat(5, reply(9.0), engine=REAL, result="partial", why="the session ended"),
    )
    write(tmp_path / "disturbed", repeat(6, reply(9.0), engine=REAL))
    (tmp_path / "half.json").write_text(repeat(7).to_json()[:100])
    (tmp_path / "foreign.json").write_text('{"hello": 1}')
    (tmp_path / "session.json").write_text(session().to_json())
    found = read([Named(tmp_path)])
    (arm,) = found.arms
    assert [record.repeat for run in arm.runs for record in run.records] == [1]
    reasons = {one.what.rpartition(" ")[2].rpartition("/")[2]: one.why for one in found.left_out}
    assert reasons["2"] == "disturbed: pod a was started anew"
    assert reasons["3"] == "the client was the limit: it used 99 % of a core"
    assert reasons["4"] == "failed: it broke"
    assert reasons["5"] == "broken off"
    assert reasons["6"] == "disturbed: it was put aside"
    assert reasons["half.json"] == "it is not JSON"
    assert reasons["foreign.json"].startswith("it is no record")
    assert len(reasons) == 7


def test_topologies_are_parted_and_labels_override(tmp_path: Path) -> None:
    write(tmp_path / "a", repeat(1, topology=SINGLE), repeat(2, topology=SPLIT, run="2"))
    write(tmp_path / "b", repeat(1, topology=None, run="3"))
    assert [arm.label for arm in read([Named(tmp_path / "a"), Named(tmp_path / "b")]).arms] == [
        "single (tensor 1)",
        "split (pipeline 2, tensor 1)",
        "b",
    ]
    (arm,) = read([Named(tmp_path / "a", "mine"), Named(tmp_path / "b", "mine")]).arms
    assert [run.name for run in arm.runs] == ["1/0123456789ab", "2/0123456789ab", "3/0123456789ab"]
    assert label_of({"kind": "none"}) == "none"


def test_a_run_that_is_named_twice_counts_once(tmp_path: Path) -> None:
    write(tmp_path, repeat(1))
    found = read([Named(tmp_path), Named(tmp_path)])
    assert len(found.arms[0].runs) == 1
    assert len(found.arms[0].runs[0].records) == 1
    assert [one.why for one in found.left_out] == ["it was read already"]


def test_a_place_without_results_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SplitbedError, match="no such file"):
        read([Named(tmp_path / "gone")])
    with pytest.raises(SplitbedError, match="no result"):
        read([Named(tmp_path)])


def both(tmp_path: Path, **changes: Any) -> tuple[Named, Named]:
    second: dict[str, Any] = {"topology": SPLIT, "engine": REAL, "run": "2"} | changes
    first = repeat(1, topology=SINGLE, engine=REAL)
    return Named(write(tmp_path / "a", first)), Named(write(tmp_path / "b", repeat(1, **second)))


def test_unlike_prompts_are_not_compared(tmp_path: Path) -> None:
    changed = SHAPE.model_copy(update={"shape_hash": "def"})
    found = judge(read(both(tmp_path, prompt=changed)), Design(), {})
    assert all(one.difference is None and one.word is None for one in found.comparisons)
    assert found.comparisons[0].withheld[0].startswith("not compared: what was sent differs")
    assert found.choices == ()


def test_another_version_of_the_engine_withholds_every_word_loudly(tmp_path: Path) -> None:
    newer = REAL.model_copy(update={"version": "0.32.0"})
    found = judge(read(both(tmp_path, engine=newer)), Design(), {})
    assert "engine version differs" in found.cautions[0]
    assert "0.31.0" in found.cautions[0]
    assert "0.32.0" in found.cautions[0]
    assert found.comparisons[0].withheld[0].startswith("engine version differs")


@pytest.mark.parametrize(
    ("engine", "said"),
    [(REAL.model_copy(update={"model": "other/model"}), "models differ"), (ENGINE, "simulated and some are not")],
)
def test_other_models_and_mixtures_with_simulated_results_are_refused(tmp_path: Path, engine: Any, said: str) -> None:
    with pytest.raises(SplitbedError, match=said):
        judge(read(both(tmp_path, engine=engine)), Design(), {})


def test_one_topology_is_no_comparison_and_typed_figures_are_none_with_records(tmp_path: Path) -> None:
    first, _ = both(tmp_path)
    with pytest.raises(SplitbedError, match="two topologies"):
        judge(read([first]), Design(), {})
    typed = Named(Path(__file__).parent / "data" / "post-1b-split.json")
    with pytest.raises(SplitbedError, match="Typed figures"):
        judge(read([first, typed]), Design(), {})
    with pytest.raises(SplitbedError, match="different sources"):
        judge(read([typed, Named(typed.path.with_name("post-gpu-tp2x2.json"))]), Design(), {})


def test_tests_that_only_one_topology_has_are_named(tmp_path: Path) -> None:
    found = judge(read(both(tmp_path, cell="other", test="other")), Design(), {})
    assert {(one.topology, one.what) for one in found.left_out} == {
        ("single (tensor 1)", "one-user"),
        ("split (pipeline 2, tensor 1)", "other"),
    }
    assert found.comparisons == ()
    assert "no test in common" in found.answer[0]


def test_machines_that_differ_are_named_loudly_and_like_ones_are_not(tmp_path: Path) -> None:
    def told(name: str, *types: str | None) -> list[str]:
        places = []
        for topology, machine in zip((SINGLE, SPLIT), types, strict=True):
            (pod,) = pods_of(1.0, {"leader": (1.0, 1)}).pods
            pods = Pods(pods=(pod.model_copy(update={"instance_type": machine}),))
            kind = str(topology["kind"])
            record = repeat(1, topology=topology, engine=REAL, run=kind, pods=pods)
            places.append(Named(write(tmp_path / name / kind, record)))
        return [line for line in judge(read(places), Design(), {}).cautions if "hardware" in line.lower()]

    assert told("like", "c7i.4xlarge", "c7i.4xlarge") == []
    (differs,) = told("unlike", "c7i.8xlarge", "c7i.4xlarge")
    assert differs.startswith("HARDWARE DIFFERS")
    assert "single (tensor 1): c7i.8xlarge; split (pipeline 2, tensor 1): c7i.4xlarge" in differs
    assert told("unknown", "c7i.8xlarge", None)[0].startswith("Not every record names its hardware")
