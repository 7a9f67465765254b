"""Plans survive the way through their file."""

from pathlib import Path

from rehearsal.cluster.plan import Plan, Program


def test_a_plan_is_read_as_it_was_written(tmp_path: Path) -> None:
    once = Program("import/a", ("ctr", "x"), "/log", node="engine-0", needs=("unix:/s",), once=True)
    plan = Plan(
        status="/status",
        authority="/ca",
        addresses=("10.89.0.1",),
        binds={"/var/lib/cni": "/x"},
        nodes=("engine-0",),
        programs=(once, Program("forwarder", ("f",), "/log", listener=7)),
    )
    plan.save(tmp_path / "plan.json")
    assert Plan.load(tmp_path / "plan.json") == plan
    assert [entry.name for entry in tmp_path.iterdir()] == ["plan.json"]
    assert (tmp_path / "plan.json").stat().st_mode & 0o777 == 0o600
