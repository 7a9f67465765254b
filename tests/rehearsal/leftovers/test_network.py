"""Programs that tell of the network, and do not say what is asked."""

from pathlib import Path

import pytest

from rehearsal.leftovers import ListingError, network


@pytest.fixture
def ip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of the `ip` that is found; it is written by the test."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path / "ip"


def script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.mark.parametrize("said", ["ip: unrecognized option: json", "[1, 2]", "{}", '[{"ifname"'])
def test_what_is_no_list_is_one_sentence(said: str, ip: Path) -> None:
    script(ip, f"echo '{said}'")
    with pytest.raises(ListingError, match="prints no JSON") as caught:
        list(network.addresses())
    assert "iproute2" in caught.value.remedy


def test_what_is_listed_is_yielded(ip: Path) -> None:
    script(ip, """echo '[{"ifname": "lo", "addr_info": [{"local": "::1", "prefixlen": 128}, {}]}]'""")
    assert list(network.addresses()) == ["::1/128 on lo"]
    script(ip, "exit 1")
    assert list(network.addresses()) == []


def test_one_that_does_not_end_is_one_sentence(ip: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "_TIMEOUT_S", 0.2)
    script(ip, "exec sleep 60")
    with pytest.raises(ListingError, match="did not end well"):
        list(network.links())


def test_a_socket_that_no_process_shows_is_nobodys_we_could_have_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "_internet_sockets", lambda: {"tcp 0.0.0.0:111": None, "tcp 127.0.0.1:80": 7})
    monkeypatch.setattr("psutil.net_connections", lambda kind: [])
    assert list(network.listening(lambda pid: True)) == ["tcp 127.0.0.1:80 of process 7"]
