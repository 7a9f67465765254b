"""`splitbed catalogue refresh`, on copies of the data files."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from experiment.errors import SplitbedError
from scripts import catalogue
from scripts.refresh import files, packages


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    copy = tmp_path / "data"
    shutil.copytree(files.DATA, copy)
    copy.chmod(0o755)
    for file in copy.iterdir():
        file.chmod(0o644)
    monkeypatch.setattr(files, "DATA", copy)
    return copy


def run(*arguments: str) -> Any:
    return CliRunner().invoke(catalogue.app, ["refresh", *arguments], catch_exceptions=False)


def read(data: Path, name: str) -> Any:
    return json.loads((data / f"{name}.json").read_text())


def test_packages_give_the_types_that_are_kept_and_new_prices(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = read(data, "instances")["types"]
    prices = {"us-east-1": {"source": "s", "date": "2027-01-01", "usd": {"m7g.2xlarge": 1.5, "x1.32xlarge": 9.0}}}
    monkeypatch.setattr(packages, "prices", lambda: prices)

    assert run().exit_code == 0
    assert read(data, "instances")["types"] == before
    assert read(data, "prices")["us-east-1"]["usd"] == {"m7g.2xlarge": 1.5}, "only of types that are kept"


def test_the_kept_files_are_written_as_a_refresh_writes_them(data: Path) -> None:
    kept = read(data, "instances")

    assert files.instances(kept["types"], kept["source"], kept["date"]) == (data / "instances.json").read_text()
    assert files.prices(read(data, "prices")) == (data / "prices.json").read_text()
    assert files.tariffs(read(data, "tariffs")) == (data / "tariffs.json").read_text()


def test_a_type_that_the_source_does_not_have_stays(data: Path) -> None:
    catalogue._write_instances([], "nothing", "2027-01-01")

    assert len(read(data, "instances")["types"]) > 300


def test_a_tariff_that_aws_does_not_list_stays(data: Path) -> None:
    catalogue._write_tariffs("us-east-1", {"eks-cluster-hour": 0.2}, "2027-01-01")
    found = read(data, "tariffs")["us-east-1"]

    assert found["eks-cluster-hour"] == {"usd": 0.2, "date": "2027-01-01", "source": "AWS's price list"}
    assert found["nat-gateway-hour"]["usd"] == 0.045


def test_packages_know_one_region(data: Path) -> None:
    with pytest.raises(SplitbedError, match="--from aws"):
        run("--region", "eu-central-1")


def test_aws_without_credentials_is_a_sentence(data: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))

    with pytest.raises(SplitbedError, match="AWS did not answer"):
        run("--from", "aws", "--profile", "nobody")
