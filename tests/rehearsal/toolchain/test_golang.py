from pathlib import Path
from typing import Any

import pytest

from rehearsal.toolchain import Toolchain, ToolchainError
from rehearsal.toolchain.golang import Go, explained


@pytest.mark.parametrize(
    "line",
    [
        'x.invalid/y@v1.0.0: Get "https://proxy.invalid/y": dial tcp: lookup proxy.invalid: no such host',
        "x.invalid/y@v1.0.0: reading https://proxy.invalid/y.zip: 404 Not Found",
        "x.invalid/y@v1.0.0: module lookup disabled by GOPROXY=off",
    ],
)
def test_a_failed_download_is_told_from_a_failed_build(line: str) -> None:
    error = explained("kwok", f"go: downloading x.invalid/y v1.0.0\n{line}\n")
    assert error.message == f"Go could not fetch a module of kwok: {line}."
    assert "what was fetched is kept" in error.remedy


def test_a_failed_build_names_its_first_error_and_its_log() -> None:
    error = explained("kwok", "# sigs.k8s.io/kwok\nmain.go:3:1: syntax error\nmain.go:9:1: more", Path("/x.log"))
    assert error.message == "Building kwok failed: main.go:3:1: syntax error (all of it is in /x.log)."


def test_a_disk_that_filled_up_is_named() -> None:
    error = explained("kwok", "# fmt\nwrite $WORK/b001/_pkg_.a: no space left on device\n")
    assert error.message == "The disk filled up while kwok was being built."


def test_a_failure_keeps_its_log_and_nothing_else(tmp_path: Path, go: Any, recorder: Any) -> None:
    go.write("fails", "main.go:1:1: expected 'package'\n")
    with pytest.raises(ToolchainError, match="expected 'package'"):
        Toolchain(tmp_path / "home", recorder).ensure("pause")
    assert [path.name for path in (tmp_path / "home" / "tools").iterdir()] == ["pause.log"]
    assert list((tmp_path / "home" / "locks").iterdir()) == []


def test_go_finds_its_caches_where_no_home_is_set(go: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME")
    assert Path(Go().env["HOME"]) == Path.home()
