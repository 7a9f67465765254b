import json
from pathlib import Path

from rich.console import Console

from report.summary import Summary, read
from report.table import as_json, as_table
from tests.benchmark.records import ENGINE, REAL, SHAPE, failure, repeat, reply
from tests.report.test_summary import write


def summarise(directory: Path, label: str, *records: object) -> Summary:
    write(directory, *records)  # type: ignore[arg-type]
    return read(directory, label=label, nodes=[f"leader {label}-0 on engine-0", "client on system-0"])


def text(*summaries: Summary, width: int = 160) -> str:
    console = Console(width=width, force_terminal=False, color_system=None)
    with console.capture() as capture:
        console.print(as_table(summaries))
    return capture.get()


def row(output: str, name: str) -> list[str]:
    (line,) = [line for line in output.splitlines() if line.strip("│┃ ").startswith(name)]
    return [cell.strip() for cell in line.strip("│┃").split("│")][1:]


def test_topologies_stand_side_by_side(tmp_path: Path) -> None:
    split = summarise(tmp_path / "a", "split", repeat(1, reply(0.5)), repeat(2, reply(1.0)), repeat(3, failure()))
    single = summarise(tmp_path / "b", "single", repeat(1, reply(0.25, (0.125, 0.125))))
    output = text(split, single, width=400)  # paths of any length fit on a line
    assert row(output, "TTFT") == ["750.00 ms (500.00 to 1000.00)", "250.00 ms (250.00 to 250.00)"]
    assert row(output, "time per token") == ["375.00 ms (375.00 to 375.00)", "125.00 ms (125.00 to 125.00)"]
    assert row(output, "longest gap") == ["500.00 ms (500.00 to 500.00)", "125.00 ms (125.00 to 125.00)"]
    assert row(output, "tokens/s") == ["2.1 (1.7 to 2.4)", "6.0 (6.0 to 6.0)"]
    assert row(output, "repeats") == ["2, 1 failed", "1"]
    assert row(output, "files") == [str(tmp_path / "a"), str(tmp_path / "b")]
    for words in ("leader split-0 on engine-0", "leader single-0 on engine-0", "client on system-0"):
        assert words in output


def test_figures_of_the_stand_in_are_called_simulated_and_those_of_a_real_engine_are_not(tmp_path: Path) -> None:
    standin = summarise(tmp_path / "a", "split", repeat(1))
    real = summarise(tmp_path / "b", "single", repeat(1, engine=REAL))
    assert "simulated" not in text(real)
    output = text(standin, real)
    heading = output.splitlines()[:6]
    assert any("simulated" in line for line in heading)
    assert row(output, "engine") == ["stand-in of vLLM 0.31.0, profile quick, simulated", "vLLM 0.31.0"]
    assert "say nothing about any model" in output


def test_prompts_of_different_shape_share_no_section(tmp_path: Path) -> None:
    other = SHAPE.model_copy(update={"shape_hash": "def"})
    output = text(
        summarise(tmp_path / "a", "split", repeat(1)), summarise(tmp_path / "b", "single", repeat(1, prompt=other))
    )
    lines = [line for line in output.splitlines() if "TTFT" in line]
    assert len(lines) == 2


def test_two_runs_in_one_directory_stay_apart(tmp_path: Path) -> None:
    output = text(summarise(tmp_path, "split", repeat(1), repeat(1, run="2")))
    assert len([line for line in output.splitlines() if "TTFT" in line]) == 2


def test_nothing_measured_is_said_and_damaged_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("{")
    output = text(summarise(tmp_path, "split", repeat(1, failure())))
    assert row(output, "TTFT") == ["not measured"]
    assert f"{tmp_path / 'bad.json'}: not read: Invalid JSON" in output.replace("\n", " ")
    assert text(Summary(label="x", nodes=(), directory=tmp_path, tests=(), unreadable=()))


def test_brackets_in_names_are_text(tmp_path: Path) -> None:
    engine = ENGINE.model_copy(update={"version": "[bold]y"})
    output = text(summarise(tmp_path, "[red]x", repeat(1, engine=engine)))
    assert "[red]x" in output
    assert "[bold]y" in output


def test_what_a_server_calls_itself_does_not_reach_the_terminal_as_it_is(tmp_path: Path) -> None:
    engine = ENGINE.model_copy(update={"version": "1\x1b[2J"})
    output = text(summarise(tmp_path / "a", "split", repeat(1, engine=engine)), width=400)
    assert "\x1b" not in output
    assert "1\\x1b[2J" in output


def test_a_narrow_terminal_loses_no_figure(tmp_path: Path) -> None:
    output = text(
        summarise(tmp_path / "a", "split", repeat(1)), summarise(tmp_path / "b", "single", repeat(1)), width=80
    )
    assert output.count("500.00 ms") >= 2


def test_json_has_the_figures_in_seconds_and_says_what_is_simulated(tmp_path: Path) -> None:
    (value,) = json.loads(json.dumps(as_json([summarise(tmp_path, "split", repeat(1))])))
    assert value["label"] == "split"
    assert value["simulated"] is True
    assert value["tests"][0]["simulated"] is True
    assert value["tests"][0]["ttft_s"] == {"median": 0.5, "low": 0.5, "high": 0.5}


def test_what_an_engine_is_has_a_row_of_its_own(tmp_path: Path) -> None:
    plain = Summary(label="x", nodes=("leader a on b",), directory=tmp_path, tests=(), unreadable=())
    told = plain.model_copy(update={"about": ("all nodes share 2 cores",)})
    assert "about" not in text(plain)
    assert row(text(told, width=400), "about") == ["all nodes share 2 cores"]
    assert row(text(told, width=400), "pods") == ["leader a on b"]
