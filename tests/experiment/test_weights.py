from typing import Any

import pytest

from tests.experiment.stacks import refused, settings_of


@pytest.mark.parametrize(
    "weights",
    [
        {},
        {"source": "hub", "cache": "node"},
        {"source": "s3", "uri": "s3://my-bucket/models/gemma", "cache": "node"},
        {"source": "directory", "uri": "/models/gemma"},
    ],
)
def test_where_weights_may_come_from(weights: dict[str, str]) -> None:
    assert settings_of("gemma-1b-split", model__weights=weights).model.weights.source == weights.get("source", "hub")


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ({"source": "s3"}, "source s3 does not go with this uri"),
        ({"source": "s3", "uri": "s3://b"}, "source s3 does not go with this uri"),
        ({"source": "s3", "uri": "/models"}, "source s3 does not go with this uri"),
        ({"source": "directory", "uri": "models"}, "source directory does not go with this uri"),
        ({"source": "hub", "uri": "/models"}, "source hub does not go with this uri"),
        ({"source": "directory", "uri": "/models", "cache": "node"}, "need no cache"),
        ({"source": "hubb"}, "Did you mean hub?"),
    ],
)
def test_where_they_may_not(weights: dict[str, Any], said: str) -> None:
    (problem,) = refused("gemma-1b-split", model__weights=weights)
    assert problem.path.startswith("model.weights")
    assert said in str(problem)


ARN = "arn:aws:secretsmanager:us-east-1:123456789012:secret:hub-AbCdEf"


@pytest.mark.parametrize("secret", ["hub", ARN, {"config": "hub-token"}])
def test_where_a_token_may_be_kept(secret: Any) -> None:
    assert refused("gemma-1b-split", model__token_secret=secret) == []


@pytest.mark.parametrize(
    ("secret", "path"),
    [
        ({"config": "Hub"}, "model.token_secret.config"),
        ({"key": "hub"}, "model.token_secret.config"),
        ("arn:aws:s3:::bucket", "model.token_secret"),
    ],
)
def test_where_it_may_not(secret: Any, path: str) -> None:
    problem, *_ = refused("gemma-1b-split", model__token_secret=secret)
    assert problem.path == path


@pytest.mark.parametrize("secret", ["hf_abcdefghijklmnop", "Hugging-Face", ""])
def test_a_token_in_place_of_a_secrets_name_is_refused_and_not_repeated(secret: str) -> None:
    (problem,) = refused("gemma-1b-split", model__token_secret=secret)
    assert problem.path == "model.token_secret"
    assert problem.found == "a value that is not shown"
    assert "never a token itself" in problem.remedy
