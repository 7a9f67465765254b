import pytest

from experiment.quantities import plain
from tests.experiment.stacks import refused


@pytest.mark.parametrize(
    ("text", "setting", "number"),
    [
        ("26Gi", "memory_gib", 26),
        ("26 GiB", "memory_gib", 26),
        ("512Mi", "memory_gib", 0.5),
        ("1.5Ti", "memory_gib", 1536),
        ("10GB", "disk_gib", pytest.approx(9.313, abs=0.001)),
        ("300m", "cpu", 0.3),
        ("6 cores", "cpu", 6),
        ("30m", "startup_s", 1800),
        ("1h", "startup_s", 3600),
        ("$100", "usd", 100),
        ("100 USD", "usd", 100),
        ("4096", "max_model_len", 4096),
        ("4k", "max_model_len", None),
        ("26Gi", "cpu", None),
        ("-1Gi", "memory_gib", None),
        ("much", "memory_gib", None),
        ("", "memory_gib", None),
    ],
)
def test_an_amount_is_the_number_of_its_settings_unit(text: str, setting: str, number: float | None) -> None:
    assert plain(text, setting) == number


def test_the_number_is_the_remedy_of_what_is_no_number() -> None:
    (problem,) = refused("gemma-12b-split", engine__resources__memory_gib="26Gi")
    assert (problem.found, problem.remedy.partition(" Expected")[0]) == ('"26Gi"', "Write 26.")
    (problem,) = refused("gemma-12b-split", engine__max_model_len="2048")
    assert problem.remedy.startswith("Write 2048. ")
    (problem,) = refused("gemma-12b-split", engine__max_model_len="2048.5")
    assert problem.remedy.startswith("Expected: "), "no number of tokens"
