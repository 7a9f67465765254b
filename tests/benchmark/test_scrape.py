from pathlib import Path

from benchmark.scrape import samples
from experiment.catalogue.engines import engine
from experiment.measure.counters import AROUND, EACH_SECOND, OF_THE_PROCESS

METRICS = (Path(__file__).parents[1] / "data" / "vllm" / "metrics.txt").read_bytes()


def test_a_real_servers_scrape_has_every_name_that_is_looked_for() -> None:
    names = {engine("0.31.0").metric(name).encode() for name in AROUND}
    assert set(samples(METRICS, names)) == names
    assert set(EACH_SECOND) <= set(AROUND)
    process = {name.encode() for name in OF_THE_PROCESS}
    assert set(samples(METRICS, process)) == process


def test_a_values_labels_are_summed_and_other_names_are_not_taken_for_it() -> None:
    body = b'# HELP a b\na{engine="0"} 1.5\na{engine="1"} 2\na_total 9\nb 1e3\nc{x="}"} NaN\n'
    assert samples(body, {b"a", b"b"}) == {b"a": 3.5, b"b": 1000.0}
    assert samples(body, {b"d"}) == {}


def test_a_metric_of_a_real_scrape_is_its_own_line() -> None:
    line = next(line for line in METRICS.splitlines() if line.startswith(b"vllm:prefix_cache_queries_total{"))
    value = float(line.rsplit(b" ", 1)[1])
    assert samples(METRICS, {b"vllm:prefix_cache_queries_total"}) == {b"vllm:prefix_cache_queries_total": value}
