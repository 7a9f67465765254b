from pathlib import Path

import pytest

from rehearsal.vllm.counters import change, families, names, parse

RECORDED = (Path(__file__).parents[2] / "data" / "vllm" / "metrics.txt").read_text()


def test_a_recorded_scrape_is_read_whole() -> None:
    series = parse(RECORDED)
    samples = [line for line in RECORDED.splitlines() if line and not line.startswith("#")]
    assert len(series) == len(samples)
    assert families(RECORDED)["vllm:iteration_tokens_total"] == "histogram"


def test_a_line_that_is_no_sample_is_refused() -> None:
    with pytest.raises(ValueError, match="not a sample: what is this"):
        parse("what is this\n")


def test_counts_and_token_sums_change_and_durations_do_not() -> None:
    before = parse('vllm:a_seconds_count{e="0"} 1\nvllm:a_seconds_sum{e="0"} 0.5\nvllm:tokens_total 3\n')
    after = parse(
        'vllm:a_seconds_count{e="0"} 3\nvllm:a_seconds_sum{e="0"} 0.9\nvllm:tokens_total 8\n'
        'vllm:a_seconds_bucket{le="1"} 2\nvllm:new_total 1\nprocess_cpu_seconds_total 9\nvllm:still 0\n'
    )
    moved = {'vllm:a_seconds_count{e="0"}': 2, "vllm:tokens_total": 5, "vllm:new_total": 1}
    assert change(before, after, alone=True) == moved


def test_steps_count_only_of_a_question_that_was_alone() -> None:
    after = parse("vllm:iteration_tokens_total_count 4\nvllm:iteration_tokens_total_sum 9\n")
    assert change({}, after, alone=True) == {
        "vllm:iteration_tokens_total_count": 4,
        "vllm:iteration_tokens_total_sum": 9,
    }
    assert change({}, after, alone=False) == {"vllm:iteration_tokens_total_sum": 9}


def test_tokens_count_only_of_answers_that_were_read_to_their_end() -> None:
    after = parse("vllm:generation_tokens_total 4\nvllm:iteration_tokens_total_sum 9\nvllm:prompt_tokens_total 5\n")
    assert change({}, after, alone=True, whole=False) == {"vllm:prompt_tokens_total": 5}


def test_names_are_those_of_series_whatever_python_runs() -> None:
    series = parse('python_info{version="3.11.7"} 1\na{python_info="x"} 2\n')
    assert names(series) == ['a{python_info="x"}', "python_info"]


def test_a_bucket_counts_what_fell_into_itself() -> None:
    before = parse('h_bucket{e="0",le="1.0"} 1\nh_bucket{e="0",le="8.0"} 1\nh_bucket{e="0",le="+Inf"} 1\n')
    after = parse('h_bucket{e="0",le="1.0"} 1\nh_bucket{e="0",le="8.0"} 3\nh_bucket{e="0",le="+Inf"} 4\n')
    assert change(before, after, alone=True) == {'h_bucket{e="0",le="8.0"}': 2, 'h_bucket{e="0",le="+Inf"}': 1}
