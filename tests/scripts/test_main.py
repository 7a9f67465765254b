import errno
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from experiment.errors import SplitbedError
from scripts.main import app
from tests.recording import ROOT


@pytest.mark.parametrize("text", ["found [1, 2] in [DONE]", "a \\[b] c", "[bold]x[/]", "[/]"])
def test_an_error_is_printed_as_it_is_and_without_a_traceback(
    text: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_args: object, **_kwargs: object) -> None:
        raise SplitbedError(text, f"Mend {text}.")

    monkeypatch.setattr("scripts.cluster.clusters.find", broken)
    with pytest.raises(SystemExit) as ended:
        app(["cluster", "status"])

    assert ended.value.code == 2
    assert capsys.readouterr().err == f"error: {text}\nMend {text}.\n"


def test_a_server_cannot_write_to_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_args: object, **_kwargs: object) -> None:
        raise SplitbedError("it says \x1b]0;owned\x07\x1b[2J", "Try \x9b31m again.")

    monkeypatch.setattr("scripts.cluster.clusters.find", broken)
    with pytest.raises(SystemExit):
        app(["cluster", "status"])
    assert capsys.readouterr().err == "error: it says \\x1b]0;owned\\x07\\x1b[2J\nTry \\x9b31m again.\n"


@pytest.mark.parametrize(
    ("refusal", "says", "remedy"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "No space left on device", "Free some space"),
        (OSError(errno.EDQUOT, "Disk quota exceeded", "/x"), "/x: Disk quota exceeded", "Free some space"),
        (
            PermissionError(errno.EACCES, "Permission denied", "/x/locks"),
            "/x/locks: Permission denied",
            "SPLITBED_HOME",
        ),
        (
            FileNotFoundError(errno.ENOENT, "No such file or directory", "nowhere/review.md"),
            "nowhere/review.md: No such file or directory",
            "Name a file in a directory that is there.",
        ),
        (OSError("something"), "something", "SPLITBED_HOME"),
    ],
)
def test_what_the_system_refuses_is_a_sentence(
    refusal: OSError, says: str, remedy: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_args: object, **_kwargs: object) -> None:
        raise refusal

    monkeypatch.setattr("scripts.cluster.clusters.find", broken)
    with pytest.raises(SystemExit) as ended:
        app(["cluster", "status"])

    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert said.startswith(f"error: {says}.\n")
    assert remedy in said


@pytest.mark.parametrize("arguments", [("--help",), ("explain", "budget")])
def test_an_output_that_is_full_is_said_to_be_that(arguments: tuple[str, ...]) -> None:
    program = f"from scripts.main import app; app({list(arguments)})"
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([sys.executable, "-c", program], stdout=full, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    said = "The output cannot be written: No space left on device.\nWrite it where there is room for it."
    assert (done.returncode, done.stderr) == (2, f"error: {said}\n")


def test_it_tells_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        app(["--version"])
    assert (ended.value.code, capsys.readouterr().out) == (0, f"splitbed {metadata.version('splitbed')}\n")
