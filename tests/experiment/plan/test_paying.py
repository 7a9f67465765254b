from experiment.plan.plan import ExperimentPlan, make
from tests.experiment.plan.samples import NOW
from tests.experiment.stacks import settings_of


def planned(**changes: object) -> ExperimentPlan:
    return make(settings_of("llama-70b-tp2x2", **{"end_date": None, "budget": {"usd": 100}, **changes}), NOW)


def texts(plan: ExperimentPlan) -> dict[str, str]:
    return {one.name: one.text for one in plan.advice}


def test_prices_that_are_not_known_are_said_beside_what_they_leave_out() -> None:
    plan = planned(cluster__region="eu-west-1", cluster__zones=["eu-west-1a", "eu-west-1b"])
    said = texts(plan)["prices-not-known"]
    assert "EKS control plane" in said
    assert "and 3 more" in said
    assert "the budget of 100 USD is not held against it" in said
    assert "prices-not-known" not in texts(planned())


def test_spot_has_no_price_either() -> None:
    group = {"instance": "g7e.24xlarge", "count": 1, "disk_gib": 400, "purchase": "spot"}
    said = texts(planned(nodes__engine=group))["prices-not-known"]
    assert "1 x g7e.24xlarge spot (engine)" in said
    assert "spot prices move" in said


def test_a_run_that_may_come_above_its_budget_is_said() -> None:
    plan = planned()
    assert plan.money is not None
    assert plan.money.longest_usd is not None
    assert plan.money.run_usd is not None
    assert plan.money.run_usd < 100 < plan.money.longest_usd
    assert f"{plan.money.longest_usd:.2f} USD, above the budget of 100" in texts(plan)["longest-run-over-budget"]
    assert plan.goes, "it is expected to stay below"
    assert "longest-run-over-budget" not in texts(planned(budget={"usd": 200}))


def test_an_end_date_within_the_budget_ends_the_longest_run() -> None:
    end = NOW.replace(hour=15).isoformat()
    assert "longest-run-over-budget" not in texts(planned(end_date=end))
