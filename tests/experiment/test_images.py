import pytest
from pydantic import TypeAdapter, ValidationError

from experiment.images import ImageReference, split_tag

ADAPTER = TypeAdapter(ImageReference)
DIGEST = "@sha256:" + "0" * 64


@pytest.mark.parametrize(
    "reference",
    [
        "registry.example/vllm:v0.31.0",
        "localhost:5000/a/b:1",
        f"registry.example/vllm{DIGEST}",
        f"registry.example/vllm:latest{DIGEST}",
        "splitbed.invalid/standin:0123456789ab",
    ],
)
def test_a_fixed_image_is_taken(reference: str) -> None:
    assert ADAPTER.validate_python(reference) == reference


@pytest.mark.parametrize(
    "reference",
    ["", "vllm", "vllm:1", "registry.example/vllm", "registry.example/vllm:main", "registry.example/VLLM:1", "a/b:1 2"],
)
def test_what_is_not_fixed_or_not_full_is_refused(reference: str) -> None:
    with pytest.raises(ValidationError):
        ADAPTER.validate_python(reference)


@pytest.mark.parametrize(
    ("reference", "parts"),
    [
        ("registry.example/lws:v0.9.0", ("registry.example/lws", "v0.9.0")),
        ("localhost:5000/lws:1", ("localhost:5000/lws", "1")),
        (f"registry.example/lws:v1{DIGEST}", ("registry.example/lws", f"v1{DIGEST}")),
    ],
)
def test_charts_get_repository_and_tag(reference: str, parts: tuple[str, str]) -> None:
    assert split_tag(reference) == parts
    repository, tag = parts
    assert f"{repository}:{tag}" == reference, "the chart joins them with a colon"


def test_a_bare_digest_still_makes_a_reference_when_joined_by_a_colon() -> None:
    repository, tag = split_tag(f"registry.example/lws{DIGEST}")
    assert ADAPTER.validate_python(f"{repository}:{tag}")
