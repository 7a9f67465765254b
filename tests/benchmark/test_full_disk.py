"""A disk that is really full: a small tmpfs in a mount namespace of the test's own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmark.server import Server
from tests.benchmark.test_main import ALL, Bench, make_plan

UNSHARE = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--map-root-user"]
# Room for two or three of the four records, which take two or three pages of 4 KiB each.
SCRIPT = """
mount -t tmpfs -o size=32k splitbed-test "$1" || exit 77
shift
"$@"
code=$?
cp -r "$RESULTS"/. "$SAVED"
exit $code
"""


@pytest.mark.thorough
def test_what_was_measured_before_the_disk_was_full_is_whole(server: Server, tmp_path: Path) -> None:
    bench = Bench(server, tmp_path, make_plan())
    bench.results.mkdir()
    saved = tmp_path / "saved"
    saved.mkdir()
    done = subprocess.run(
        [*UNSHARE, "sh", "-c", SCRIPT, "sh", str(bench.results), sys.executable, "-m", "benchmark", *bench.argv],
        env=os.environ | {"RESULTS": str(bench.results), "SAVED": str(saved)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip(f"no mount namespace here: {done.stderr.strip()}")
    assert done.returncode == 1
    assert "No space left on device. Free some space there, then resume" in done.stderr
    assert "To resume" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert not list(saved.rglob(".*.part"))
    subprocess.run(["cp", "-r", f"{saved}/.", str(bench.results)], check=True)
    first = bench.finished()
    assert 0 < len(first) < len(ALL)
    assert bench.run() == 0
    assert list(bench.finished()) == ALL
    assert {name: bench.finished()[name] for name in first} == first
