"""`sweep`, `audit`, `extend`, `pin` and `preflight` as they are typed, on an account that moto plays."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cloud import hub, lookup, web
from cloud.account import Account
from experiment import ownership
from experiment.errors import SplitbedError
from experiment.pins import Pins
from scripts import audit, expiry, extend, pin, preflight, sweep
from scripts.stack import read
from scripts.verbs import command
from stackfiles.stackfile import STACKS
from tests.cloud.conftest import REGION, SESSION, VirtualClock, no_network, unplayed
from tests.cloud.places import Places
from tests.cloud.planted import plant
from tests.cloud.unplayed import Unplayed

__all__ = ["no_network", "unplayed"]

NAME = "gemma-1b-split"
NOW = datetime.now(UTC).replace(microsecond=0)
SOON, LATER, PAST = ((NOW + timedelta(days=days)).isoformat() for days in (2, 9, -1))
pytestmark = [pytest.mark.usefixtures("at_moto"), pytest.mark.thorough]


@pytest.fixture
def at_moto(unplayed: Unplayed, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (audit, expiry, extend, pin, preflight, sweep):
        monkeypatch.setattr(module, "Account", lambda _: Account(session=SESSION))


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    commands: list[Sequence[str]] = []
    monkeypatch.setattr(extend, "run", lambda command, _: commands.append(command))
    return commands


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / f"Pulumi.{NAME}.yaml"
    path.write_text((STACKS / path.name).read_text())
    return path


def dated(file: Path, end: str) -> Path:
    extend.write(read(str(file)), datetime.fromisoformat(end))
    return file


def run(verb: str, *arguments: str) -> Any:
    return CliRunner().invoke(command(verb), list(arguments), catch_exceptions=False)


def cluster_tag(key: str) -> str:
    eks: Any = SESSION.client("eks", region_name=REGION)
    found: str = eks.describe_cluster(name=f"exp-{NAME}")["cluster"]["tags"][key]
    return found


def test_sweep_lists_and_deletes_nothing_unless_told(unplayed: Unplayed) -> None:
    made = plant(unplayed, NAME, REGION)

    listed = run("sweep", NAME, "--json")

    assert listed.exit_code == 1
    assert {(one["kind"], one["id"]) for one in json.loads(listed.output)["leftovers"]} == made
    assert not any(operation.startswith(("Delete", "Terminate", "Release")) for operation, _ in unplayed.calls)
    refused = CliRunner().invoke(command("sweep"), [NAME, "--delete"], input="n\n")
    assert refused.exit_code == 1
    assert not any(operation.startswith(("Delete", "Terminate", "Release")) for operation, _ in unplayed.calls)


def test_sweep_of_nothing_ends_well() -> None:
    said = run("sweep", "any-name", "--region", REGION)

    assert (said.exit_code, said.output) == (0, "Nothing of any-name is left.\n")


def test_sweep_deletes_when_told(unplayed: Unplayed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "WallClock", VirtualClock)
    plant(unplayed, NAME, REGION)

    said = run("sweep", NAME, "--delete", "--yes")

    assert said.exit_code == 0
    assert f"deleting cluster exp-{NAME} in {REGION}" in said.output
    assert run("sweep", NAME).exit_code == 0


def test_audit_tells_and_fixes_what_it_may(unplayed: Unplayed, file: Path) -> None:
    plant(unplayed, NAME, REGION, end=SOON)
    dated(file, LATER)

    first = json.loads(run("audit", str(file), "--region", REGION, "--json").output)
    fixed = json.loads(run("audit", str(file), "--region", REGION, "--fix", "--json").output)

    kinds = {finding["kind"] for finding in first["findings"]} - {finding["kind"] for finding in fixed["findings"]}
    assert kinds == {"instance", "volume", "network interface", "auto scaling group"}
    assert all("pulumi up" in finding["remedy"] for finding in fixed["findings"])
    assert cluster_tag(ownership.END_DATE) == SOON, "that is for `up` to move"


def test_audit_without_a_stack_judges_all_experiments_by_themselves(unplayed: Unplayed) -> None:
    plant(unplayed, "old", REGION, end=PAST)
    said = run("audit", "--region", REGION)

    assert said.exit_code == 1
    assert f"past its end date: cluster exp-old in {REGION} of old" in said.output


def test_fixing_needs_a_stack() -> None:
    with pytest.raises(SplitbedError, match="none is named"):
        run("audit", "--fix", "--region", REGION)


def test_extend_changes_the_file_tags_what_lives_and_names_the_up(
    unplayed: Unplayed, file: Path, ran: list[Sequence[str]]
) -> None:
    plant(unplayed, NAME, REGION, end=SOON)
    dated(file, SOON)
    before = file.read_text()

    said = run("extend", str(file), LATER)

    assert said.exit_code == 0
    assert file.read_text() == before.replace(SOON, LATER)
    assert f"pulumi up --stack {NAME} --config-file {file}" in said.output
    assert "pulumi refresh" not in said.output
    assert ran == []
    ec2: Any = SESSION.client("ec2", region_name=REGION)
    instance = ec2.describe_instances()["Reservations"][0]["Instances"][0]
    assert {"Key": ownership.END_DATE, "Value": LATER} in instance["Tags"]


@pytest.mark.parametrize("known_by", ["file", "live"])
def test_on_a_stack_that_has_expired_the_state_is_refreshed_first(
    known_by: str, unplayed: Unplayed, file: Path, ran: list[Sequence[str]]
) -> None:
    if known_by == "file":
        dated(file, PAST)
    else:
        plant(unplayed, NAME, REGION, end=PAST)

    assert run("extend", str(file), LATER, "--up").exit_code == 0

    assert [command[1] for command in ran] == ["refresh", "up"]
    assert read(str(file)).settings.end_date == datetime.fromisoformat(LATER)


@pytest.mark.parametrize(
    ("date", "why"),
    [(PAST, "has passed"), ("2027-01-01", "not a moment"), ("soon", "not a moment")],
    ids=["past", "day", "word"],  # the same in every worker, whatever the moment
)
def test_a_date_that_cannot_be_is_refused_and_the_file_stays(date: str, why: str, file: Path) -> None:
    before = file.read_text()

    with pytest.raises(SplitbedError, match=why):
        run("extend", str(file), date)

    assert file.read_text() == before


def test_a_stack_on_a_given_cluster_has_nothing_in_aws() -> None:
    with pytest.raises(SplitbedError, match="nothing in AWS"):
        run("sweep", "rehearsal-split")


def test_pin_shows_what_changes_and_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = tmp_path / "lock.json"
    found = Pins(day=NOW.date(), images={"a.invalid/b:1": f"sha256:{'1' * 64}"})
    monkeypatch.setattr(lookup, "look_up", lambda *_: found)

    assert run("pin", "--lock", str(lock), "--check").exit_code == 1
    asked = CliRunner().invoke(command("pin"), ["--lock", str(lock)], input="n\n")
    assert '+    "a.invalid/b:1": "sha256:111' in asked.output
    assert not lock.exists()
    assert run("pin", "--lock", str(lock), "--yes").exit_code == 0
    assert lock.read_text() == lookup.text(found)
    assert run("pin", "--lock", str(lock), "--check").exit_code == 0
    monkeypatch.setattr(lookup, "look_up", lambda *_: found.model_copy(update={"day": NOW.date() + timedelta(days=1)}))
    assert run("pin", "--lock", str(lock), "--check").exit_code == 0, "the same another day is no change"


def test_preflight_is_a_line_for_each_thing(unplayed: Unplayed, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "get", Places())
    monkeypatch.setattr(hub, "token", lambda _: None)
    monkeypatch.setattr(preflight, "output", lambda command: f"{command[0]} 9")
    unplayed.answers["GetServiceQuota"] = lambda _: {"Quota": {"Value": 1000.0}}

    said = run("preflight", str(file))

    assert said.exit_code == 1
    lines = [line for line in said.output.splitlines() if not line.startswith("        ")]
    assert all(line.startswith(("ok     ", "refused")) for line in lines[:-1])
    assert "ok      pulumi: pulumi 9" in lines
    assert any(line.startswith("refused end_date: it is missing") for line in lines)
    assert any(line.startswith("refused docker.io/vllm") for line in lines)
    assert any(line.startswith("ok      quota of vCPUs") for line in lines)


def test_expiry_tells_what_is_past_its_date_with_what_ends_it(unplayed: Unplayed, tmp_path: Path) -> None:
    text = tmp_path / "expiry.md"
    done = run("expiry", "--region", REGION, "--out", str(text), "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout) == {"regions": [REGION], "stacks": [], "experiments": {}}
    assert text.read_text() == f"{expiry.MARK}\nNothing in 1 region is past its end date.\n"

    for experiment, end in ((NAME, PAST), ("old", PAST), ("goes-on", LATER)):
        plant(unplayed, experiment, REGION, end=end)
    done = run("expiry", "--region", REGION, "--out", str(text), "--json")
    assert done.exit_code == 1
    found = json.loads(done.stdout)
    assert found["stacks"] == [NAME]
    assert list(found["experiments"]) == [NAME, "old"]
    said = text.read_text()
    assert f"`pulumi destroy --stack {NAME}`" in said
    assert f"`splitbed sweep old --region {REGION}`" in said
    assert "goes-on" not in said
