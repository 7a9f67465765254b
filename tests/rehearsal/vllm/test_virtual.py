from rehearsal.engine.profile import PROFILES
from rehearsal.vllm.modes import Load, loads
from rehearsal.vllm.virtual import simulate, with_quota
from report.modes import STAGGERS, share, slowdowns


def test_the_same_seed_gives_the_same_run() -> None:
    first, again, other = (simulate(PROFILES["trial-split"], Load(4, 0), seed) for seed in (1, 1, 2))
    assert first == again != other
    assert first.simulated


def test_forty_loads_fall_into_both_modes() -> None:
    runs = [simulate(PROFILES["trial-split"], load, seed) for seed, load in enumerate(loads(1))]
    assert [run for run in runs if run.mode is None] == []
    together, of = share(runs, STAGGERS["together"])
    assert 0.3 * of <= together <= 0.9 * of
    assert share(runs, STAGGERS["30 ms and more"])[0] <= 2
    assert all(1.1 <= times <= 1.6 for times in slowdowns(runs).values())


def test_a_quota_is_felt_by_the_leader_first() -> None:
    free, tight = (with_quota([Load(4, 60)] * 3, cores) for cores in (None, 0.6))
    assert all(run.pods == {} for run in free)
    assert max(run.gap_ms for run in free) < min(run.gap_ms for run in tight)
    assert all(run.pods["leader"].throttled > run.pods["worker"].throttled for run in tight)
