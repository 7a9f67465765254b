import re
from pathlib import Path

import pytest

from benchmark.cluster.apiserver import TRIES, ApiError, ApiRefusedError, ApiServer
from tests.benchmark.cluster.double import NAMESPACE, Kubernetes, asked, in_cluster

PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"


def test_a_pod_finds_its_api_server_by_its_environment(tmp_path: Path) -> None:
    with pytest.raises(ApiError, match="this is no pod of a cluster"):
        ApiServer.of_this_pod(float, {}, tmp_path)
    environ = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}
    with pytest.raises(ApiError, match=re.escape(f"{tmp_path / 'namespace'}: No such file or directory.")):
        ApiServer.of_this_pod(float, environ, tmp_path)
    (tmp_path / "namespace").write_text("here\n")
    assert ApiServer.of_this_pod(float, environ, tmp_path).namespace == "here"


@pytest.mark.parametrize("fault", ["reset", "slow", "500", "429", "503"])
def test_it_asks_again_where_the_api_server_is_away(tmp_path: Path, fault: str) -> None:
    async def main(kubernetes: Kubernetes) -> None:
        kubernetes.faults.extend([fault] * (TRIES - 1))
        assert len(await kubernetes.client().items(PODS)) == 1
        kubernetes.faults.extend([fault] * TRIES)
        with pytest.raises(
            ApiError, match=r"The API server does not answer GET /api/v1/namespaces/exp-lab/pods\?limit"
        ):
            await kubernetes.client().items(PODS)
        assert not kubernetes.faults

    in_cluster(tmp_path, asked(), main)


def test_a_refusal_is_said_at_once(tmp_path: Path) -> None:
    async def main(kubernetes: Kubernetes) -> None:
        kubernetes.allowed.clear()
        with pytest.raises(ApiRefusedError, match=r'403: pods is forbidden: cannot get resource "pods"'):
            await kubernetes.client().get(f"{PODS}/exp-lab-0")
        (kubernetes.directory / "token").write_text("an old one")
        with pytest.raises(ApiRefusedError, match="401: Unauthorized"):
            await kubernetes.client().items(PODS)
        assert len(kubernetes.questions) == 2

    in_cluster(tmp_path, asked(), main)


def test_the_token_is_read_each_time(tmp_path: Path) -> None:
    """The kubelet renews it every hour."""

    async def main(kubernetes: Kubernetes) -> None:
        client = kubernetes.client()
        token = (kubernetes.directory / "token").read_text()
        (kubernetes.directory / "token").write_text("an old one")
        with pytest.raises(ApiRefusedError):
            await client.get(f"{PODS}/exp-lab-0")
        (kubernetes.directory / "token").write_text(f"{token}\n")
        assert await client.get(f"{PODS}/exp-lab-0") is not None

    in_cluster(tmp_path, asked(), main)


def test_what_is_not_there_is_none_and_nonsense_is_an_error(tmp_path: Path) -> None:
    async def main(kubernetes: Kubernetes) -> None:
        assert await kubernetes.client().get(f"{PODS}/else") is None
        kubernetes.faults.append("nonsense")
        with pytest.raises(ApiError, match="something that is no JSON object"):
            await kubernetes.client().get(f"{PODS}/exp-lab-0")

    in_cluster(tmp_path, asked(), main)


def test_lists_are_read_page_by_page_and_anew_when_they_expire(tmp_path: Path) -> None:
    async def main(kubernetes: Kubernetes) -> None:
        kubernetes.page = 2
        for expiring, asked_times in ((0, 3), (1, 2 + 3)):
            kubernetes.expiring = expiring
            kubernetes.questions.clear()
            names = [item["metadata"]["name"] for item in await kubernetes.client().items(PODS)]
            assert names == [f"exp-lab-{group}" for group in range(5)]
            assert len(kubernetes.questions) == asked_times
        kubernetes.expiring = 99
        with pytest.raises(ApiError, match="expired 3 times"):
            await kubernetes.client().items(PODS)

    in_cluster(tmp_path, asked(groups=5), main)


def test_only_the_pod_that_is_meant_is_deleted(tmp_path: Path) -> None:
    async def main(kubernetes: Kubernetes) -> None:
        kubernetes.allowed.add(("delete", "pods"))
        client = kubernetes.client()
        await client.delete(f"{PODS}/exp-lab-0", "another", 1)
        assert kubernetes.deleted == []
        sent_s = await client.delete(f"{PODS}/exp-lab-0", "uid-1", 1)
        assert kubernetes.deleted == ["exp-lab-0"]
        assert sent_s == kubernetes.loop.time()
        await client.delete(f"{PODS}/gone", "uid-1", 1)
        kubernetes.allowed.discard(("delete", "pods"))
        with pytest.raises(ApiRefusedError, match="cannot delete"):
            await client.delete(f"{PODS}/exp-lab-0", "uid-1", 1)

    in_cluster(tmp_path, asked(), main)
