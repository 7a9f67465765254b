import pytest

from experiment.errors import SplitbedError
from experiment.plan import words
from experiment.plan.plan import ExperimentPlan, make
from tests.experiment.plan.samples import NOW
from tests.experiment.stacks import settings_of


def planned(**changes: object) -> ExperimentPlan:
    return make(settings_of("gemma-12b-split", **changes), NOW)


def text(plan: ExperimentPlan, name: str) -> str | None:
    return next((one.text for one in plan.advice if one.name == name), None)


def test_a_model_of_which_nothing_is_known_does_not_pass_quietly() -> None:
    plan = planned(model__name="google/gemma-4-12b-itt")
    assert "Did you mean google/gemma-4-12B-it?" in (text(plan, "model-not-known") or "")
    assert words.verdict(plan) == "not known whether it fits"
    assert "Did you mean" not in (text(planned(model__name="someone/else"), "model-not-known") or "Did you mean")
    assert text(planned(), "model-not-known") is None
    assert text(planned(model__name="x/y", topology={"kind": "none"}), "model-not-known") is None


def test_a_region_that_is_none_stops_until_it_is_accepted() -> None:
    typo = {"cluster__region": "us-esat-1", "cluster__zones": ["us-esat-1a", "us-esat-1b"]}
    plan = planned(**typo)
    assert "Did you mean us-west-1 or us-east-1?" in (text(plan, "region-not-known") or "")
    assert not plan.goes
    assert planned(**typo, accept=["region-not-known"]).goes
    assert text(planned(), "region-not-known") is None


def test_the_zones_tell_which_region_was_meant() -> None:
    with pytest.raises(SplitbedError, match=r"zone us-east-1a is not in us-esat-1\. Did you mean region: us-east-1\?"):
        planned(cluster__region="us-esat-1")
    with pytest.raises(SplitbedError, match=r"Name zones as us-west-2a\."):
        planned(cluster__region="us-west-2")
