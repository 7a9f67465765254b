"""A live stack's state as a reviewer sees it."""

import json

from review.state import SEALED, api_servers, blanked, resources

SIGNATURE, SECRET = "4dabf18193072939515e22adb298388d", "1b47061264138c4ac30d75fd1eb44270"
CONFIG = json.dumps({"clusters": [{"cluster": {"server": "https://k.example:443"}, "name": "c"}]})
EXPORTED = {
    "version": 3,
    "deployment": {
        "secrets_providers": {"type": "cloud", "state": {"url": "awskms://alias/x", "encryptedkey": "c2VhbGVk"}},
        "pending_operations": [{"resource": {}}],
        "resources": [
            {"type": "pulumi:pulumi:Stack", "urn": "s"},
            {"type": "pulumi:providers:kubernetes", "inputs": {"kubeconfig": CONFIG}},
            {"type": "pulumi:providers:kubernetes", "inputs": {"kubeconfig": "/a/path"}},
            {"type": "x", "inputs": {"deep": [{SIGNATURE: SECRET, "ciphertext": "v1:AAAA"}], "plain": 1}},
        ],
    },
}


def test_no_secret_and_nothing_of_its_key_is_left() -> None:
    own = {"deployment": {"secrets_providers": {"type": "passphrase", "state": {"salt": "of its own"}}}}
    found = blanked(EXPORTED, own)
    assert found["deployment"]["secrets_providers"] == own["deployment"]["secrets_providers"]
    assert "v1:AAAA" not in json.dumps(found)
    assert "awskms" not in json.dumps(found)
    assert found["deployment"]["pending_operations"] == []
    (sealed,) = found["deployment"]["resources"][3]["inputs"]["deep"]
    assert sealed == {SIGNATURE: SECRET, "plaintext": json.dumps(SEALED)}
    assert found["deployment"]["resources"][3]["inputs"]["plain"] == 1
    assert "v1:AAAA" in json.dumps(EXPORTED), "what was given is as it was"


def test_a_stack_that_is_empty_is_not_up() -> None:
    assert len(resources(EXPORTED)) == 3
    for empty in ({"deployment": None}, {}, {"deployment": {"resources": [{"type": "pulumi:pulumi:Stack"}]}}):
        assert resources(empty) == []


def test_where_the_clusters_api_is_asked_is_read_where_it_is_said() -> None:
    assert list(api_servers(EXPORTED)) == ["https://k.example:443"]
