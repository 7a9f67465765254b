"""The loop: whatever kills or stops it, the same command goes on, and what is measured is never measured again."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from campaign.journal import Journal
from campaign.looks import judged
from campaign.loop import ATTEMPTS, TurnFailedError
from campaign.order import Turn, turns
from experiment.errors import SplitbedError
from tests.campaign.conftest import BEGAN, TURN_S, Clock, CrashingJournal, DoubleOfLives, Killed, Stage
from tests.rehearsal.conftest import Recorder


def test_a_campaign_from_its_first_turn_to_its_verdict(stage: Stage) -> None:
    assert stage.command() == "the last planned look, after 2 runs of each, is done"
    assert stage.lives.measured == [1, 2, 3, 4]
    assert stage.lives.left == ["none"]
    found = judged(stage.directory, stage.campaign, {})
    assert [subject.topology for subject in found.subjects] == ["single", "split (pipeline 2)"]
    assert [len(subject.runs) for subject in found.subjects] == [2, 2]
    assert not any("did not take turns" in one for one in found.cautions)
    measured = stage.journal().measured
    assert [entry.seconds for entry in measured.values()] == [TURN_S] * 4
    assert measured[1].places[0].startswith("leader engine-0 on node-")


def test_one_that_has_ended_does_nothing_more(stage: Stage) -> None:
    why = stage.command()
    assert stage.command() == why
    assert (stage.lives.begun, stage.lives.measured, stage.lives.left) == (1, [1, 2, 3, 4], ["none"])


@pytest.mark.thorough
def test_killed_at_every_line_of_its_journal_each_turn_is_measured_once(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """A turn whose line was lost is gone on with under the same run and attempt, so that its records are kept."""
    for before in (False, True):
        for line in range(12):
            clock = Clock()
            stage = Stage(tmp_path_factory.mktemp("killed"), clock, Recorder(), DoubleOfLives(clock))
            journal = stage.journal(CrashingJournal)
            assert isinstance(journal, CrashingJournal)
            journal.kill_at, journal.before = line, before
            with pytest.raises(Killed):
                stage.command(journal)
            promised = set(stage.journal().measured)
            measured_before = list(stage.lives.measured)

            stage.command()

            again = stage.lives.measured[len(measured_before) :]
            assert not promised & set(again)
            assert sorted({*measured_before, *again}) == [1, 2, 3, 4]
            assert all(attempt == 1 for _, attempt in stage.lives.attempts)
            assert stage.journal().ended is not None
            runs = {record.parent.parent.name for record in stage.directory.rglob("one-user-1.json")}
            assert len(runs) == 4


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
@pytest.mark.thorough
def test_killed_interrupted_and_failing_again_and_again_it_comes_to_its_end(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    clock = Clock()
    lives = DoubleOfLives(clock, fails={data.draw(st.integers(1, 6)): data.draw(st.integers(0, 4))})
    stage = Stage(tmp_path_factory.mktemp("any"), clock, Recorder(), lives, {"looks": (3,)})
    dice = data.draw(st.randoms(use_true_random=False))
    kinds: list[type[BaseException]] = [KeyboardInterrupt, Killed, SplitbedError]
    troubles = data.draw(st.lists(st.sampled_from(kinds), max_size=6))

    def trouble(_: Turn) -> None:
        if troubles and dice.random() < 0.5:
            raise troubles.pop()("here")

    lives.trouble = trouble
    for _ in range(30):
        try:
            stage.command()
        except (KeyboardInterrupt, Killed, SplitbedError):
            clock.pass_by(data.draw(st.floats(0, 1e5)))
            continue
        break
    assert stage.journal().ended is not None
    assert sorted(lives.measured) == [1, 2, 3, 4, 5, 6], "each once"
    assert lives.left == ["none"]


def test_a_failed_benchmark_is_tried_again_by_another_job(stage: Stage) -> None:
    stage.lives.fails = {2: ATTEMPTS - 1}
    stage.command()
    assert [attempt for turn, attempt in stage.lives.attempts if turn == 2] == [1, 2, 3]
    assert stage.journal().measured[2].seconds is None, "what a turn takes is not told by one that failed"


def test_one_that_fails_again_and_again_ends_in_a_sentence_and_goes_on_with_new_jobs(stage: Stage) -> None:
    stage.lives.fails = {2: ATTEMPTS}
    with pytest.raises(TurnFailedError, match=f"failed {ATTEMPTS} times.*The stack is left as it is"):
        stage.command()
    assert stage.lives.left == []
    stage.command()
    assert [attempt for turn, attempt in stage.lives.attempts if turn == 2] == [1, 2, 3, 4]
    assert stage.lives.measured == [1, 2, 3, 4]


def test_it_ends_at_the_first_look_that_is_narrow_enough(stage: Stage) -> None:
    stage.fields = {"looks": (3, 6)}
    why = stage.command()
    assert "after 3 runs of each, a change of" in why
    assert stage.lives.measured == list(range(1, 7))
    look = stage.journal().looks[3]
    assert look.ending == "narrow enough"
    assert look.smallest is not None
    assert look.smallest < 0.1


def test_it_goes_on_where_that_is_not_so(stage: Stage) -> None:
    stage.fields = {"looks": (3, 6), "difference": 0.001}
    assert stage.command() == "the last planned look, after 6 runs of each, is done"
    assert [look.ending for look in stage.journal().looks.values()] == ["go on", "last look"]


def test_a_pass_for_which_there_is_no_money_is_not_begun(stage: Stage) -> None:
    # 6 USD an hour: a turn is 1 USD, a pass 2, and 1.50 are kept back for the end.
    stage.limits = {"hour_usd": 6.0, "budget_usd": 5.4}
    why = stage.command()
    assert why.startswith("the budget is near: 2.00 of 5.40 USD are spent, and the next 2 turns would take 3.50 USD")
    assert stage.lives.measured == [1, 2], "both of the first pass"
    assert stage.lives.left == ["none"]


def test_nor_one_for_which_there_is_no_time(stage: Stage) -> None:
    stage.limits = {"end": BEGAN + timedelta(seconds=3 * TURN_S + 900)}
    assert stage.command().startswith("the end date is near: 2026-12-01 12:45 UTC is 25 min away")
    assert stage.lives.measured == [1, 2]


def test_two_passes_of_which_nothing_can_be_used_are_enough(stage: Stage) -> None:
    stage.fields = {"looks": (4, 6)}
    stage.lives.disturbed = True
    why = stage.command()
    assert why == "of 2 runs of each, no repeat can be used; most often: disturbed: another benchmark ran"
    assert stage.lives.measured == [1, 2, 3, 4]
    assert stage.lives.left == ["none"]


def test_a_stack_that_is_not_up_takes_its_nodes_time_once_and_no_turn_is_expected_to(stage: Stage) -> None:
    stage.lives.up, stage.ground_s = False, 1080.0
    stage.limits = {"end": BEGAN + timedelta(seconds=2 * TURN_S + 900 + 1000)}
    assert stage.command().startswith("the end date is near")
    assert stage.lives.measured == []

    stage.directory /= "again"
    stage.directory.mkdir()
    stage.limits = {}
    stage.command()
    assert [entry.seconds for entry in stage.journal().measured.values()] == [None, TURN_S, TURN_S, TURN_S]


def test_a_laptop_that_was_lost_for_a_day_has_spent_a_day(stage: Stage) -> None:
    stage.limits = {"hour_usd": 6.0, "budget_usd": 100.0}
    stage.lives.trouble = interrupted_at(3)
    with pytest.raises(KeyboardInterrupt):
        stage.command()
    stage.clock.pass_by(24 * 3600)
    assert stage.command().startswith("the budget is near: 146.00 of 100.00 USD are spent")
    assert stage.lives.measured == [1, 2]


def test_an_interrupted_turn_is_gone_on_with_and_the_stack_is_left_alone(stage: Stage) -> None:
    stage.lives.trouble = interrupted_at(2)
    with pytest.raises(KeyboardInterrupt):
        stage.command()
    assert stage.lives.left == []
    stage.command()
    assert stage.lives.attempts == [(1, 1), (2, 1), (2, 1), (3, 1), (4, 1)]
    assert "was begun before; finished repeats are kept" in stage.recorder.text
    assert stage.journal().measured[2].seconds is None


def test_each_turn_tells_how_much_time_and_money_is_left(stage: Stage) -> None:
    stage.limits = {"hour_usd": 6.0, "budget_usd": 50.0, "end": BEGAN + timedelta(days=1)}
    stage.command()
    first, second = [step for step in stage.recorder.steps if step.startswith("turn")][:2]
    label = stage.campaign.labels[turns(stage.campaign)[0].topology]
    assert first.startswith(f"turn 1 of at most 4: {label}, run c20261201-120000-001")
    assert "about 40 min (as planned); 0.00 of 50.00 USD spent, about 4.00 more; 24.0 h to the end date" in first
    assert "1.00 of 50.00 USD spent, about 3.00 more" in second


def test_a_journal_of_a_torn_line_is_gone_on_with(stage: Stage) -> None:
    stage.lives.trouble = interrupted_at(3)
    with pytest.raises(KeyboardInterrupt):
        stage.command()
    path = stage.directory / "journal.jsonl"
    path.write_bytes(path.read_bytes()[:-5])
    stage.command(Journal.opened(path))
    assert stage.lives.measured == [1, 2, 3, 4]


def interrupted_at(number: int) -> Callable[[Turn], None]:
    """Interrupt the first measuring of a turn."""
    left = [number]

    def trouble(turn: Turn) -> None:
        if turn.number in left:
            left.remove(turn.number)
            raise KeyboardInterrupt

    return trouble
