import boto3
import pytest

from experiment.catalogue.regions import meant, regions


def test_each_is_one_of_awss() -> None:
    session = boto3.Session()
    known = {one for part in session.get_available_partitions() for one in session.get_available_regions("eks", part)}
    assert set(regions()) <= known
    assert len(regions()) > 30


@pytest.mark.parametrize(
    ("given", "near"),
    [
        ("us-east-1", ()),
        ("us-esat-1", ("us-west-1", "us-east-1")),
        ("ap-southeast-77", ("ap-southeast-7", "ap-southeast-6")),
        ("nowhere-1", ()),
    ],
)
def test_what_is_misspelt_is_near_what_was_meant(given: str, near: tuple[str, ...]) -> None:
    assert meant(given) == near
