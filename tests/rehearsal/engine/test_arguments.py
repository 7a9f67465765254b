"""The command line takes what the recorded one takes, and refuses the rest in argparse's words."""

import json
from pathlib import Path

import pytest

from rehearsal.engine import arguments
from rehearsal.engine.settings import SettingsError, settings

POST_FLAGS = [
    "--dtype=bfloat16",
    "--max-model-len=4096",
    "-cc.mode=2",
    "-cc.backend=eager",
    "--no-async-scheduling",
    "--pipeline-parallel-size=2",
    "--tensor-parallel-size=1",
    "--nnodes=2",
    "--node-rank=1",
    "--master-addr=leader",
    "--headless",
]


def test_post_flags_are_understood() -> None:
    args = arguments.parse(["serve", "m", *POST_FLAGS])
    assert args.model == "m"
    assert args.compilation_config == {"mode": 2, "backend": "eager"}
    assert (args.pipeline_parallel_size, args.nnodes, args.node_rank) == (2, 2, 1)
    assert args.headless is True
    assert args.async_scheduling is False
    assert args.master_port == 29501


def test_every_recorded_flag_is_taken(recordings: Path) -> None:
    flags = json.loads((recordings / "serve-flags.json").read_text())
    kinds = json.loads((arguments.DATA / "flag-values.json").read_text())
    samples = {"json": '{"a":1}', "length": "4k"}
    for flag, facts in flags.items():
        if flag in ("-h", "--help", "--model", "--config"):
            continue
        argv = ["serve", "m", flag]
        if facts["takes_value"]:
            name = kinds["aliases"].get(flag, flag)
            kind = kinds["values"].get(name, "str").removeprefix("optional ")
            choices = flags[name]["choices"]
            argv.append(str(choices[0]) if choices else samples.get(kind, "1"))
        assert arguments.parse(argv).model == "m", flag


def test_data_is_the_recording(recordings: Path) -> None:
    recorded = json.loads((recordings / "serve-flags.json").read_text())
    assert json.loads((arguments.DATA / "serve-flags.json").read_text()) == recorded


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--foo"], "vllm: error: unrecognized arguments: --foo"),
        (["--port", "x"], "vllm serve: error: argument --port: invalid int value: 'x'"),
        (
            ["--max-model-len=x"],
            "vllm serve: error: argument --max-model-len: invalid human_readable_int_or_auto value: 'x'",
        ),
        (
            ["--max-num-seqs=x"],
            "vllm serve: error: argument --max-num-seqs: Value x cannot be converted to <class 'int'>.",
        ),
        (["-pp", "two"], "argument --pipeline-parallel-size/-pp: invalid int value: 'two'"),
        (["--dtype=int3"], "argument --dtype: invalid choice: 'int3'"),
        (["--headless=1"], "argument --headless: ignored explicit argument '1'"),
        (["--nnodes"], "argument --nnodes/-n: expected one argument"),
        (["--kv-cache-memory-bytes=1.5G"], "Decimals are not allowed with binary suffixes like G"),
    ],
)
def test_refusals(argv: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_info:
        arguments.parse(["serve", "m", *argv])
    assert exit_info.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "number"), [("4k", 4000), ("4K", 4096), ("25.6k", 25600), ("1G", 1 << 30), ("512", 512)]
)
def test_readable_integers(text: str, number: int) -> None:
    assert arguments.human_readable_int(text) == number


def test_underscores_and_the_old_model_flag() -> None:
    args = arguments.parse(["serve", "--model", "m", "--served_model_name", "a", "b"])
    assert (args.model, args.served_model_name) == ("m", ["a", "b"])


@pytest.mark.parametrize(
    "variable", ["SPLITBED_STANDIN_SEED", "VLLM_EXECUTE_MODEL_TIMEOUT_SECONDS", "VLLM_CPU_KVCACHE_SPACE"]
)
def test_a_variable_that_is_no_number_is_refused_by_name(variable: str) -> None:
    with pytest.raises(SettingsError, match=f"'many' .{variable} is"):
        settings(arguments.parse(["serve", "m"]), {variable: "many"})
