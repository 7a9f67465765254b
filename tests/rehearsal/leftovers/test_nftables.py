"""A kernel that does not tell all of its nftables."""

import socket
from typing import Self

import pytest

from rehearsal.leftovers import ListingError, nftables


class Kernel:
    """A netlink socket on which the given answers come, and then nothing."""

    def __init__(self, *answers: bytes | OSError) -> None:
        self.answers = list(answers)

    def __call__(self, *arguments: object) -> "Kernel":
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *arguments: object) -> None:
        """Nothing was opened."""

    def settimeout(self, seconds: float) -> None:
        assert seconds > 0

    def send(self, request: bytes) -> None:
        assert request

    def recv(self, size: int) -> bytes:
        answer = self.answers.pop(0)
        if isinstance(answer, OSError):
            raise answer
        return answer


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (TimeoutError("timed out"), "nothing came for 5 s"),
        (OSError(105, "No buffer space available"), "No buffer space available"),
        (b"", "broke off"),
    ],
)
def test_a_list_that_does_not_end_is_one_sentence(
    answer: bytes | OSError, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "socket", Kernel(answer))
    with pytest.raises(ListingError, match=why) as caught:
        list(nftables.objects())
    assert caught.value.remedy


def test_a_kernel_without_netfilter_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise OSError(93, "Protocol not supported")

    monkeypatch.setattr(socket, "socket", refuse)
    assert list(nftables.objects()) == []
