"""Two pods of one node, and how they do not get into each other's way."""

import threading
from pathlib import Path

from components.pod.weights import store
from components.pod.weights.files import File
from components.pod.weights.hub import Hub
from tests.components.pod.weights import hubserver
from tests.components.pod.weights.conftest import FILES


def test_of_two_at_once_one_fetches_and_the_other_finds_all_there(hub: hubserver.Hub, tmp_path: Path) -> None:
    listed: list[int] = []

    def listing() -> list[File]:
        listed.append(1)
        return Hub(hub.model, hubserver.COMMIT, None, "").files()

    both = [threading.Thread(target=store.fill, args=(tmp_path / "w", listing)) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert len(listed) == 1
    assert (tmp_path / "w" / "model.safetensors").read_bytes() == FILES["model.safetensors"]
