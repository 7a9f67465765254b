"""What is changed in the controller's chart on its way to the engine."""

import copy
from typing import Any

import pulumi
import pytest

from components.lws import ready_with_webhook

DEPLOYMENT: dict[str, Any] = {
    "metadata": {"name": "lws-controller-manager"},
    "spec": {
        "replicas": 1,
        "template": {
            "spec": {
                "containers": [
                    {
                        "name": "manager",
                        "ports": [{"containerPort": 9443, "name": "webhook-server"}],
                        "livenessProbe": {"httpGet": {"path": "/healthz", "port": 8081}},
                        "readinessProbe": {
                            "httpGet": {"path": "/readyz", "port": 8081},
                            "initialDelaySeconds": 5,
                            "periodSeconds": 10,
                        },
                    }
                ]
            }
        },
    },
}


def changed(kind: str, props: dict[str, Any]) -> Any:
    before = copy.deepcopy(props)
    args = pulumi.ResourceTransformArgs(True, kind, "chart:object", props, pulumi.ResourceOptions())
    result = ready_with_webhook(args)
    assert props == before, "the engine's own copy was changed"
    return None if result is None else result.props


def test_the_manager_is_ready_when_its_webhook_listens() -> None:
    spec = changed("kubernetes:apps/v1:Deployment", DEPLOYMENT)["spec"]
    (manager,) = spec["template"]["spec"]["containers"]
    assert manager["readinessProbe"] == {"tcpSocket": {"port": "webhook-server"}, "periodSeconds": 1}
    assert {port["name"] for port in manager["ports"]} == {"webhook-server"}
    assert manager["livenessProbe"] == {"httpGet": {"path": "/healthz", "port": 8081}}


def test_what_the_chart_calls_ready_makes_the_kubelet_look_for_the_certificate() -> None:
    (manager,) = changed("kubernetes:apps/v1:Deployment", DEPLOYMENT)["spec"]["template"]["spec"]["containers"]
    probe = manager["startupProbe"]
    assert probe["httpGet"] == {"path": "/readyz", "port": 8081}
    # Before, it has no certificate to mount yet; and a slow start must not be ended half way.
    assert probe["initialDelaySeconds"] == 5
    assert probe["periodSeconds"] * probe["failureThreshold"] >= 60


def test_it_is_available_only_when_the_way_to_it_is_known() -> None:
    assert changed("kubernetes:apps/v1:Deployment", DEPLOYMENT)["spec"]["minReadySeconds"] >= 2


@pytest.mark.parametrize("annotations", [{}, {"annotations": {"kept": "yes"}}])
def test_the_webhooks_service_is_not_awaited_besides(annotations: dict[str, Any]) -> None:
    service = changed("kubernetes:core/v1:Service", {"metadata": {"name": "lws-webhook-service", **annotations}})
    assert service["metadata"]["annotations"] == {
        **annotations.get("annotations", {}),
        "pulumi.com/skipAwait": "true",
    }


def test_all_else_of_the_chart_is_left_alone() -> None:
    assert changed("kubernetes:core/v1:ConfigMap", {"data": {"controller_manager_config.yaml": "x"}}) is None
