import pytest
from pydantic import TypeAdapter, ValidationError

from experiment.images import ArchitectureImages, ImageReference, image_for, named_architecture, split_tag
from tests.experiment.stacks import refused, settings_of

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


def test_an_image_is_chosen_by_architecture() -> None:
    both = ArchitectureImages(arm64="a/b:1-arm64", amd64="a/b:1-amd64")
    assert image_for(both, "arm64") == "a/b:1-arm64"
    assert image_for(both, "amd64") == "a/b:1-amd64"
    assert image_for(both, None) is None
    assert image_for(ArchitectureImages(amd64="a/b:1"), "arm64") is None
    assert image_for("a/b:1", None) == "a/b:1"


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("vllm/vllm-openai-cpu:v0.31.0-x86_64", "amd64"),
        ("vllm/vllm-openai-cpu:v0.31.0-arm64", "arm64"),
        ("registry.example/aarch64/engine:1", "arm64"),
        ("vllm/vllm-openai-cpu:v0.31.0", None),
        ("registry.example/engine-arm64-amd64:1", None),
        (f"registry.example/engine:1{DIGEST}", None),
    ],
)
def test_some_images_say_what_they_are_for(reference: str, expected: str | None) -> None:
    assert named_architecture(reference) == expected


def test_the_engine_runs_the_image_of_its_nodes() -> None:
    both = {"arm64": "registry.example/engine:1-arm64", "amd64": "registry.example/engine:1-amd64"}
    assert settings_of("gemma-1b-split", engine__image=both).engine_image == both["arm64"]


@pytest.mark.parametrize(
    ("image", "path", "why"),
    [
        ({}, "engine.image", "it names no image"),
        ({"arm64": "a/b:latest"}, "engine.image.arm64", "the image is not pinned"),
        ({"arm": "a/b:1"}, "engine.image.arm", "there is no such key"),
        (1, "engine.image", "it is not text"),
    ],
)
def test_images_that_cannot_be(image: object, path: str, why: str) -> None:
    problem = refused("gemma-1b-split", engine__image=image)[0]
    assert problem.path == path
    assert why in problem.why
