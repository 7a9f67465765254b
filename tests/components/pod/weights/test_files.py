import pytest

from components.pod.weights.files import File, needed


def file(path: str) -> File:
    return File(path=path, size=1, digest="", kind="sha256", request=lambda: ("", {}, {}))


@pytest.mark.parametrize(
    ("there", "left_out"),
    [
        (
            ["config.json", "model.safetensors", "pytorch_model.bin", "model.gguf", "onnx/model.onnx"],
            {"pytorch_model.bin", "model.gguf", "onnx/model.onnx"},
        ),
        (
            ["config.json", "model-1.safetensors", "consolidated.safetensors", "original/a.pth"],
            {"consolidated.safetensors", "original/a.pth"},
        ),
        (["params.json", "consolidated.safetensors"], set()),
        (["config.json", "pytorch_model.bin", "tokenizer.model"], set()),
        (["config.json", "model.safetensors", "1_Pooling/config.json", ".gitattributes"], {".gitattributes"}),
        (["config.json", "../outside", "/etc/passwd", "a/../../b"], {"../outside", "/etc/passwd", "a/../../b"}),
    ],
)
def test_the_same_weights_in_other_forms_are_left_out(there: list[str], left_out: set[str]) -> None:
    assert [one.path for one in needed([file(path) for path in there])] == [
        path for path in there if path not in left_out
    ]
