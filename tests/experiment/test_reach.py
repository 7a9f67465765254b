"""What pods must reach outside, by how the stack's own variables say it."""

import pytest

from experiment import reach
from tests.experiment.stacks import settings_of


@pytest.mark.parametrize(
    ("variable", "value", "ports"),
    [
        ("HTTPS_PROXY", "http://proxy.example:3128", (443, 3128)),
        ("https_proxy", "proxy.example:3128", (443, 3128)),
        ("HTTPS_PROXY", "10.0.0.1:3128", (443, 3128)),
        ("HTTP_PROXY", "proxy.example", (80, 443)),
        ("HF_ENDPOINT", "https://hub.example", (443,)),
        ("NO_PROXY", "hub.example:9", (443,)),
        ("SSL_CERT_FILE", "/etc/ssl/hub.pem", (443,)),
    ],
)
def test_an_engine_reaches_a_proxy_however_it_is_written(variable: str, value: str, ports: tuple[int, ...]) -> None:
    assert reach.of_engine(settings_of("gemma-1b-split", engine__env={variable: value})) == ports
