import json

import pytest

from scripts.main import app


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as ended:
        app(["explain", *arguments])
    assert not ended.value.code
    return capsys.readouterr().out


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


def test_a_key_is_described(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "engine.probes.startup_s").splitlines()[:3] == [
        "engine.probes.startup_s: seconds a pod may take to load and join",
        "  type       number above 0 to 86400 (seconds)",
        "  default    900",
    ]


def test_keys_below_it_follow_without_saying_again_where_it_may_be(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "cluster.network")
    assert "only where cluster.kind: eks" in text
    (line,) = [line for line in text.splitlines() if line.startswith("cidr ")]
    assert line.rstrip().endswith("[where cluster.network.kind: new]")


def test_without_a_key_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys)
    assert "benchmark.results.bucket" in text
    assert "topology.tensor" in text


def test_the_same_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    budget, usd = json.loads(said(capsys, "budget", "--json"))
    assert budget["children"] == ["budget.usd"]
    assert (usd["unit"], usd["required"], usd["default"]) == ("US dollars", True, "")


def test_an_unknown_key_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        app(["explain", "engin.image"])
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith("error: There is no setting engin.image.\nDid you mean engine.image")
