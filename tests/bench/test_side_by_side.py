import json
import subprocess
import sys
from pathlib import Path

import pytest

from experiment.measure.part import Distribution
from tests.bench.clients import Load, Seen
from tests.bench.engine import Truth, truths
from tests.bench.side_by_side import Measurement, compared, cpu_per_token_s, cpu_whole_s, read, run, streams_within


def spread(value: float) -> Distribution:
    found = Distribution.of([value])
    assert found is not None
    return found


def measurement(streams: int, off_s: float, tokens: int = 100, **changes: object) -> Measurement:
    fields: dict[str, object] = {
        "round": 0, "client": "ours", "streams": streams, "requests": 1, "tokens": tokens, "load_average": 1.0,
        "answered": streams, "ttft": spread(off_s), "itl": spread(0.0),
    }  # fmt: skip
    return Measurement.model_validate(fields | changes)


def test_a_client_is_held_against_when_the_request_was_there_and_the_pieces_were_written() -> None:
    truth = Truth(arrived_s=10.0, read_s=10.03, writes=[(10.1, 0.0), (10.12, 0.0), (10.16, 0.0)])
    late = Seen(ttft_s=0.104, itl_s=0.031, gaps_s=(0.021, 0.041))
    found = compared({"a": late, "of another engine": late}, {"a": truth})
    assert found["answered"] == 1
    assert found["ttft"].mean == pytest.approx(0.004)
    assert found["ttft_read"].mean == pytest.approx(0.034)
    assert found["itl"].mean == pytest.approx(0.001)
    assert (found["gap"].count, found["gap"].max) == (2, pytest.approx(0.001))
    assert compared({"a": Seen(0.1, 0.03, None)}, {"a": truth})["gap"] is None, "guidellm keeps no single gap"


def test_stamps_are_read_by_the_clients_own_names(tmp_path: Path) -> None:
    lines = [
        {"event": "read", "request": "cmpl-peer-1", "ns": 2_000_000_000, "arrived_ns": 1_000_000_000},
        {"event": "write", "request": "cmpl-peer-1", "ns": 3_000_000_000, "tokens": 1, "engine_ns": 2_500_000_000},
        {"event": "write", "request": "cmpl-peer-1", "ns": 4_000_000_000, "tokens": 0, "engine_ns": None},
    ]
    (tmp_path / "stamps").write_text("\n".join(map(json.dumps, lines)))
    assert truths(tmp_path / "stamps") == {"peer-1": Truth(1.0, 2.0, [(3.0, 2.5)])}


def test_a_token_costs_what_more_of_them_cost_more() -> None:
    found = [
        measurement(64, 0.0, 20, cpu_s=5.0, answered=128, requests=2),
        measurement(64, 0.0, 100, cpu_s=5.0 + 128 * 80 * 30e-6, answered=128, requests=2),
        measurement(64, 0.0, 100, cpu_s=99.0, answered=128, requests=2, round=1),  # of a round without the short one
    ]
    assert cpu_per_token_s(found) == pytest.approx(30e-6)
    assert cpu_per_token_s(found[:1]) is None
    assert cpu_whole_s(found[:2]) == pytest.approx((5.0 + 128 * 80 * 30e-6) / 12_800)
    assert cpu_whole_s([]) is None


@pytest.mark.parametrize(
    ("found", "streams"),
    [
        ([measurement(1, 0.001), measurement(8, 0.004), measurement(64, 0.006), measurement(128, 0.001)], 8),
        ([measurement(1, 0.006)], 0),
        ([measurement(1, 0.001), measurement(8, 0.001, answered=7)], 1),
        ([measurement(1, 0.001), measurement(8, 0.001, failure="timed out")], 1),
        (
            [
                measurement(1, 0.001),
                measurement(8, 0.001),
                measurement(8, 0.02, round=1),
                measurement(8, 0.001, round=2),
            ],
            8,
        ),
    ],
)
def test_streams_count_up_to_the_first_number_that_is_too_far_off(found: list[Measurement], streams: int) -> None:
    broken = [one.model_copy(update={"ttft": None, "itl": None}) if one.failure else one for one in found]
    assert streams_within(broken) == streams


def test_all_that_a_command_leaves_behind_costs(tmp_path: Path) -> None:
    burn = "import time\nwhile time.process_time() < 0.3: pass"
    orphan = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {burn!r}])"
    command = [sys.executable, "-m", "tests.bench.cost", str(tmp_path / "cpu"), sys.executable, "-c", orphan]
    subprocess.run(command, check=True)
    assert json.loads((tmp_path / "cpu").read_text()) > 0.3


def test_what_is_in_the_file_is_not_measured_again_and_turns_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Named:
        environ: dict[str, str] = {}  # noqa: RUF012

        def __init__(self, name: str) -> None:
            self.name = name

    order = []

    def measured(client: Named, load: Load, number: int) -> Measurement:
        order.append((number, client.name))
        return measurement(load.streams, 0.001, load.tokens, client=client.name, round=number)

    monkeypatch.setattr("tests.bench.side_by_side.measured", measured)
    file, said = tmp_path / "file", list[str]()
    clients = [Named("a"), Named("b"), Named("c")]
    run(clients[:1], [Load(8, 1, 100)], 1, file, said.append)  # type: ignore[arg-type]
    run(clients, [Load(8, 1, 100)], 2, file, said.append)  # type: ignore[arg-type]
    assert order == [(0, "a"), (0, "b"), (0, "c"), (1, "c"), (1, "b"), (1, "a")]
    assert len(read(file)) == 6
