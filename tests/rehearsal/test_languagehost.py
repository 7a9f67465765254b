"""The small language host, spoken to over gRPC as the engine does."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import grpc
import psutil
import pytest
from pulumi.runtime.proto import language_pb2, language_pb2_grpc


@pytest.fixture
def host() -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "rehearsal.languagehost", "127.0.0.1:1"], stdout=subprocess.PIPE, text=True
    )
    with process:
        yield process
        process.kill()


def stub(host: subprocess.Popen[str]) -> tuple[grpc.Channel, language_pb2_grpc.LanguageRuntimeStub]:
    assert host.stdout is not None
    channel = grpc.insecure_channel(f"127.0.0.1:{int(host.stdout.readline())}")
    return channel, language_pb2_grpc.LanguageRuntimeStub(channel)


def test_it_prints_its_port_and_greets(host: subprocess.Popen[str]) -> None:
    channel, language = stub(host)
    with channel:
        assert language.Handshake(language_pb2.LanguageHandshakeRequest()) == language_pb2.LanguageHandshakeResponse()
        assert language.About(language_pb2.AboutRequest()).executable == sys.executable


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_goes_quietly_when_asked(host: subprocess.Popen[str], number: signal.Signals) -> None:
    channel, language = stub(host)
    with channel:
        language.Handshake(language_pb2.LanguageHandshakeRequest())
    host.send_signal(number)

    assert host.wait(timeout=10) == 0


def plugin(directory: Path, program: str, *arguments: str) -> language_pb2.RunPluginRequest:
    (directory / "__main__.py").write_text(program)
    return language_pb2.RunPluginRequest(
        pwd=str(directory),
        args=arguments,
        env=[f"PATH={os.environ['PATH']}", "SAID=first", "SAID=last"],
        info=language_pb2.ProgramInfo(program_directory=str(directory), entry_point="."),
        kind="analyzer",
    )


def test_a_plugin_is_run_and_all_it_prints_is_handed_on(host: subprocess.Popen[str], tmp_path: Path) -> None:
    program = "import os, sys; print(sys.argv[1], os.environ['SAID'], os.getcwd()); sys.exit('enough' * 50_000)"
    channel, language = stub(host)
    with channel:
        answers = list(language.RunPlugin(plugin(tmp_path, program, "127.0.0.1:1")))

    assert b"".join(each.stdout for each in answers).decode() == f"127.0.0.1:1 last {tmp_path}\n"
    assert b"".join(each.stderr for each in answers).decode().strip() == "enough" * 50_000
    assert [each.WhichOneof("output") for each in answers][-1] == "exitcode"
    assert answers[-1].exitcode == 1


@pytest.mark.parametrize("how", ["call cancelled", "host killed"])
@pytest.mark.thorough
def test_a_plugin_ends_with_its_call_and_with_the_host(host: subprocess.Popen[str], tmp_path: Path, how: str) -> None:
    """What a policy pack prints first is its port; it never ends by itself."""
    program = "import os, time; print(os.getenv('SAID'), flush=True); time.sleep(600)"
    channel, language = stub(host)
    with channel:
        running = language.RunPlugin(plugin(tmp_path, program))
        assert next(running).stdout.strip() == b"last"
        (started,) = [each for each in psutil.Process(host.pid).children(recursive=True) if not each.children()]
        if how == "call cancelled":
            running.cancel()
        else:
            host.kill()
        started.wait(timeout=10)


@pytest.mark.thorough
def test_it_ends_with_whoever_started_it(tmp_path: Path) -> None:
    starter = (
        "import subprocess, sys, time\n"
        f"child = subprocess.Popen([{sys.executable!r}, '-m', 'rehearsal.languagehost', 'x'], stdout=subprocess.PIPE)\n"
        "child.stdout.readline(); print(child.pid, flush=True); time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", starter], stdout=subprocess.PIPE, text=True) as engine:
        assert engine.stdout is not None
        host = int(engine.stdout.readline())
        engine.kill()
    deadline = time.monotonic() + 10
    while Path(f"/proc/{host}").exists() and _state(host) != "Z":
        assert time.monotonic() < deadline, "the host outlived its engine"
        time.sleep(0.05)


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return "Z"


def test_the_wrapper_says_what_is_missing() -> None:
    wrapper = Path(__file__).parents[2] / "rehearsal" / "languagehost" / "bin" / "pulumi-language-python"
    environment = {key: value for key, value in os.environ.items() if key != "SPLITBED_PYTHON"}

    done = subprocess.run([wrapper], env=environment, capture_output=True, text=True, check=False)

    assert done.returncode != 0
    assert "SPLITBED_PYTHON: set by the rehearsal" in done.stderr
