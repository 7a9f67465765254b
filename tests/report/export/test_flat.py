import builtins
import csv
from io import BytesIO, StringIO
from typing import Any

import pytest

from experiment.measure.figures import TestFigures
from experiment.measure.load import LoadFigures
from experiment.measure.pods import Pods, uses
from experiment.record import RepeatRecord
from report.export.flat import Flat, tables
from report.export.parquet import NoParquetError, to_parquet
from tests.benchmark.records import failure, repeat, reply, request
from tests.experiment.measure.test_pods import counters, pod


def measured(number: int, kind: str, pods: Pods, tokens: int = 0) -> RepeatRecord:
    requests = (request(reply()), request(failure("it broke, twice"), user=1)) if tokens else ()
    load = LoadFigures.of(requests) if tokens else None
    figures = TestFigures(load=load, pods=uses(pods, tokens))
    return repeat(number, test_kind=kind, cell=kind, requests=requests, figures=figures, pods=pods)


IDLE = measured(1, "idle", Pods(pods=(pod(counters(0), counters(60, used_s=6.0, sent=600)),)))
BUSY = measured(1, "one-user", Pods(pods=(pod(counters(100), counters(120, used_s=5.0, sent=1000)),)), tokens=3)


def named(name: str, *records: RepeatRecord) -> Flat:
    (found,) = [table for table in tables(records) if table.name == name]
    return found


def test_a_row_a_request_with_what_it_was_part_of() -> None:
    table = named("requests", IDLE, BUSY)
    assert table.column("cell") == ["one-user"] * 2
    assert table.column("ok") == [True, False]
    assert table.column("failure") == [None, "it broke, twice"]
    assert table.column("ttft_s") == [0.5, None]
    assert table.column("first_chunk_s") == [1000.5, None]
    assert table.column("last_chunk_s") == [1001.25, None]
    assert table.column("chunks") == [3, 0]
    assert table.column("simulated") == [True, True]


def test_a_row_a_repeat_with_its_figures() -> None:
    table = named("repeats", IDLE, BUSY)
    assert table.column("requests") == [None, 2]
    assert table.column("failed") == [None, 1]
    assert table.column("ttft_s_p50") == [None, 0.5]
    assert table.column("client_limited") == [None, None]


def test_a_row_a_pod_with_its_idle_baseline_taken_off() -> None:
    table = named("pods", BUSY, IDLE)
    assert table.column("pod") == ["x-0", "x-0"]
    assert table.column("cpu_per_token_s") == [5 / 3, None]
    # Three tokens came; of the idle minute a third lies in the twenty seconds.
    assert table.column("cpu_per_token_s_over_idle") == [pytest.approx((5 - 2) / 3), None]
    assert table.column("sent_bytes_per_token_over_idle") == [pytest.approx((1000 - 200) / 3), None]
    assert named("pods", BUSY).column("cpu_per_token_s_over_idle") == [None], "without an idle test it is not known"


def test_csv_is_read_back_as_it_was() -> None:
    table = named("requests", BUSY)
    rows = list(csv.DictReader(StringIO(table.to_csv())))
    assert list(rows[0]) == list(table.types)
    assert [row["failure"] for row in rows] == ["", "it broke, twice"]
    assert [float(row["ttft_s"]) if row["ttft_s"] else None for row in rows] == table.column("ttft_s")


@pytest.mark.parametrize("name", ["repeats", "requests", "pods"])
@pytest.mark.parametrize("records", [(), (IDLE, BUSY)])
def test_parquet_is_read_back_as_it_was(name: str, records: tuple[RepeatRecord, ...]) -> None:
    from arro3.io import read_parquet

    table = named(name, *records)
    back = read_parquet(BytesIO(to_parquet(table))).read_all()
    assert back.column_names == list(table.types)
    for column, name_ in zip(back.columns, table.types, strict=True):
        assert column.to_pylist() == table.column(name_), name_


def test_without_its_writer_parquet_is_refused_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *more: Any) -> Any:
        if name.startswith("arro3"):
            raise ImportError(name)
        return real(name, *more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(NoParquetError, match=r"splitbed\[parquet\]"):
        to_parquet(named("pods"))
