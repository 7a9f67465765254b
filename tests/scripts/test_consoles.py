"""Where commands print: wide enough, and in characters that the output can carry."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def printed(*arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", "import sys; from scripts.main import app; app(sys.argv[1:])", *arguments],
        capture_output=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, **environment},
    )
    return done.stdout.decode(errors="replace")


def test_keys_are_whole_without_a_terminal() -> None:
    out = printed("explain", COLUMNS="20")
    assert "cluster.network.subnets " in out
    assert "\u2026" not in out


def test_a_plan_is_printed_where_no_frame_can_be() -> None:
    out = printed("plan", "gemma-12b-split", PYTHONIOENCODING="ascii", COLUMNS="20")
    assert "KV cache" in out
    assert "2,186 tokens" in out
