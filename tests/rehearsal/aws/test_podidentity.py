"""EKS Pod Identity as the doubles play it: who gets keys, what a pod is given, and what the keys open."""

import base64
import http.client
import json
import socket
import ssl
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from rehearsal.aws import podidentity
from rehearsal.aws.front import Serving
from rehearsal.aws.kubernetes import Account, Paper
from rehearsal.aws.world import World
from rehearsal.cluster.pki import Authority
from tests.rehearsal.aws import made
from tests.rehearsal.aws.driver import Driver

pytestmark = pytest.mark.thorough

POLICY = {
    "Version": "2012-10-17",
    "Statement": [
        {"Effect": "Allow", "Action": ["s3:GetObject", "s3:PutObject"], "Resource": ["arn:aws:s3:::records/some/1/*"]},
        {
            "Effect": "Allow",
            "Action": ["s3:ListBucket"],
            "Resource": ["arn:aws:s3:::records"],
            "Condition": {"StringLike": {"s3:prefix": ["some/1", "some/1/*"]}},
        },
    ],
}
TOKEN = "its token"  # noqa: S105  nobody's
ACCOUNT = Account("exp-some", "exp-some", "benchmark")


class OnePod(Paper):
    """Clusters on paper, in which one pod runs, whose token is known."""

    def account(self, token: str) -> Account | None:
        return ACCOUNT if token == TOKEN else None


@pytest.fixture
def paper() -> Paper:
    return OnePod()


@pytest.fixture
def associated(account: World, aws: Driver) -> World:
    made.cluster(aws)
    ask = account.services.ask
    role = ask("iam", "CreateRole", RoleName="records", AssumeRolePolicyDocument=made.TRUST)["Role"]["Arn"]
    ask("iam", "PutRolePolicy", RoleName="records", PolicyName="own", PolicyDocument=json.dumps(POLICY))
    ask(
        "eks", "CreatePodIdentityAssociation", clusterName=ACCOUNT.cluster, namespace=ACCOUNT.namespace,
        serviceAccount=ACCOUNT.name, roleArn=role,
    )  # fmt: skip
    ask("s3", "CreateBucket", Bucket="records")
    return account


def s3_of(found: World) -> Any:
    status, keys = found.identity.credentials("its token")
    assert status == 200
    session = boto3.Session(keys["AccessKeyId"], keys["SecretAccessKey"], keys["Token"], region_name="us-east-1")
    return session.client("s3", endpoint_url=found.address)


def test_keys_open_what_the_role_may_and_nothing_else(associated: World) -> None:
    s3 = s3_of(associated)
    s3.put_object(Bucket="records", Key="some/1/one-user/0.json", Body=b"{}")
    assert s3.get_object(Bucket="records", Key="some/1/one-user/0.json")["Body"].read() == b"{}"
    assert s3.list_objects_v2(Bucket="records", Prefix="some/1/")["KeyCount"] == 1
    for refused, arguments in (
        (s3.put_object, {"Key": "some/2/one-user/0.json", "Body": b"{}"}),
        (s3.delete_object, {"Key": "some/1/one-user/0.json"}),
        (s3.list_objects_v2, {"Prefix": "other/"}),
        (s3.list_objects_v2, {}),
    ):
        with pytest.raises(ClientError, match="AccessDenied"):
            refused(Bucket="records", **arguments)


def test_who_has_no_association_or_no_token_gets_no_keys(associated: World) -> None:
    assert associated.identity.credentials("another")[0] == 404
    (one,) = associated.parts.associations
    del associated.parts.associations[one]
    assert associated.identity.credentials("its token")[0] == 404


def test_others_keys_are_not_its_business(associated: World) -> None:
    session = boto3.Session("rehearsal", "rehearsal", region_name="us-east-1")
    session.client("s3", endpoint_url=associated.address).put_object(Bucket="records", Key="anywhere", Body=b"")


def review(account: str, spec: dict[str, Any]) -> dict[str, Any]:
    request = {"uid": "u", "namespace": "exp-some", "object": {"spec": {"serviceAccountName": account, **spec}}}
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}


def test_a_pod_of_the_account_is_told_the_way_in_each_container(associated: World) -> None:
    spec = {
        "containers": [{"name": "a", "env": [{"name": "A", "value": "1"}], "volumeMounts": [{"name": "v"}]}],
        "initContainers": [{"name": "b"}],
        "volumes": [{"name": "v"}],
    }
    said = associated.identity.admitted("exp-some", review("benchmark", spec))["response"]
    patch = json.loads(base64.b64decode(said["patch"]))
    assert said["allowed"]
    assert [one["path"] for one in patch] == [
        "/spec/volumes/-", "/spec/initContainers/0/volumeMounts", "/spec/initContainers/0/env",
        "/spec/containers/0/volumeMounts/-", "/spec/containers/0/env/-", "/spec/containers/0/env/-",
    ]  # fmt: skip
    assert "patch" not in associated.identity.admitted("exp-some", review("default", spec))["response"]
    assert "patch" not in associated.identity.admitted("other", review("benchmark", spec))["response"]


def test_it_is_asked_over_sockets_of_the_host(associated: World, tmp_path: Path) -> None:
    """As the clusters' outlets do: in the clear for pods, over TLS for the API server."""
    issued = Authority(tmp_path / "pki").issue("webhook", "webhook", hosts=(podidentity.WEBHOOK,))
    encrypted = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    encrypted.load_cert_chain(issued.certificate, issued.key)
    plain, secure = tmp_path / "plain.sock", tmp_path / "tls.sock"
    front = associated.front
    with Serving(front, f"unix://{plain}"), Serving(front, f"unix://{secure}", encrypted):
        status, said = asked(plain, None, "GET", podidentity.CREDENTIALS_PATH, {"Authorization": "its token"})
        assert (status, said["AccessKeyId"][:4]) == (200, "ASIA")
        trusted = ssl.create_default_context(cafile=str(tmp_path / "pki" / "ca.crt"))
        body = json.dumps(review("benchmark", {"containers": []}))
        status, said = asked(secure, trusted, "POST", f"{podidentity.WEBHOOK_PATH}exp-some?timeout=10s", {}, body)
        assert (status, said["response"]["uid"]) == (200, "u")


def test_an_outlet_leads_to_a_socket(associated: World, tmp_path: Path) -> None:
    plain = tmp_path / "plain.sock"
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    argv = [sys.executable, "-m", "rehearsal.cluster.outlet", "127.0.0.1", str(port), str(plain)]
    with Serving(associated.front, f"unix://{plain}"), subprocess.Popen(argv) as outlet:
        try:
            eventually_reached(port)
            address = f"http://127.0.0.1:{port}"
            session = boto3.Session("rehearsal", "rehearsal", region_name="us-east-1")
            sts = session.client("sts", endpoint_url=address)
            assert sts.get_caller_identity()["Account"] == "123456789012"
        finally:
            outlet.kill()


def eventually_reached(port: int) -> None:
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.05)
        else:
            return


def asked(
    path: Path, context: ssl.SSLContext | None, method: str, where: str, headers: dict[str, str], body: str = ""
) -> tuple[int, dict[str, Any]]:
    connection = http.client.HTTPConnection(podidentity.WEBHOOK)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(str(path))
    if context is not None:
        connection.sock = context.wrap_socket(connection.sock, server_hostname=podidentity.WEBHOOK)
    connection.request(method, where, body, {"Content-Type": "application/json", **headers})
    answer = connection.getresponse()
    said: dict[str, Any] = json.loads(answer.read())
    connection.close()
    return answer.status, said
