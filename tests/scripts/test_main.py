import pytest

from experiment.errors import SplitbedError
from scripts.main import app


@pytest.mark.parametrize("text", ["found [1, 2] in [DONE]", "a \\[b] c", "[bold]x[/]", "[/]"])
def test_an_error_is_printed_as_it_is_and_without_a_traceback(
    text: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_args: object, **_kwargs: object) -> None:
        raise SplitbedError(text, f"Mend {text}.")

    monkeypatch.setattr("scripts.cluster.clusters.find", broken)
    with pytest.raises(SystemExit) as ended:
        app(["cluster", "status"])

    assert ended.value.code == 1
    assert capsys.readouterr().err == f"error: {text}\nMend {text}.\n"
