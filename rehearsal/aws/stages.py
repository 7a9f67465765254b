"""How pods pretend: at once ready where they are placed, a Job's at once done, a webhook's when it really answers."""

from pathlib import Path

ANSWERS = "rehearsal.splitbed.dev/answers"
"""Annotation of a pod whose webhook answers."""

_MANAGER = '.metadata.labels["control-plane"]'
_HEAD = """
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {{name: {name}}}
spec:
  resourceRef: {{apiGroup: v1, kind: Pod}}
  selector:
    matchExpressions:
"""
_ALIVE = "    - {key: .metadata.deletionTimestamp, operator: DoesNotExist}\n"
_READY = """
  next:
    statusTemplate: |
      {{ $now := Now }}
      phase: Running
      startTime: {{ $now | Quote }}
      hostIP: {{ NodeIPWith .spec.nodeName | Quote }}
      podIP: {{ PodIPWith .spec.nodeName ( or .spec.hostNetwork false ) ( or .metadata.uid "" ) ( or .metadata.name "" ) ( or .metadata.namespace "" ) | Quote }}
      conditions:
      {{ range $kind := list "Initialized" "ContainersReady" "Ready" }}
      - {type: {{ $kind }}, status: "True", lastTransitionTime: {{ $now | Quote }}}
      {{ end }}
      containerStatuses:
      {{ range .spec.containers }}
      - {name: {{ .name | Quote }}, image: {{ .image | Quote }}, ready: true, started: true, restartCount: 0, state: {running: {startedAt: {{ $now | Quote }}}}}
      {{ end }}
      initContainerStatuses:
      {{ range .spec.initContainers }}
      {{ if eq ( or .restartPolicy "" ) "Always" }}
      - {name: {{ .name | Quote }}, image: {{ .image | Quote }}, ready: true, started: true, restartCount: 0, state: {running: {startedAt: {{ $now | Quote }}}}}
      {{ else }}
      - {name: {{ .name | Quote }}, image: {{ .image | Quote }}, ready: true, started: false, restartCount: 0, state: {terminated: {exitCode: 0, reason: Completed, startedAt: {{ $now | Quote }}, finishedAt: {{ $now | Quote }}}}}
      {{ end }}
      {{ end }}
"""  # noqa: E501  a template's line is a line of YAML
_DONE = """
  next:
    statusTemplate: |
      {{ $now := Now }}
      phase: Succeeded
      conditions:
      {{ range $kind := list "ContainersReady" "Ready" }}
      - {type: {{ $kind }}, status: "False", reason: PodCompleted, lastTransitionTime: {{ $now | Quote }}}
      {{ end }}
      containerStatuses:
      {{ range .spec.containers }}
      - {name: {{ .name | Quote }}, image: {{ .image | Quote }}, ready: false, started: false, restartCount: 0, state: {terminated: {exitCode: 0, reason: Completed, startedAt: {{ $now | Quote }}, finishedAt: {{ $now | Quote }}}}}
      {{ end }}
"""  # noqa: E501
_UNPLACED = "    - {key: .status.podIP, operator: DoesNotExist}\n"


def write(directory: Path) -> Path:
    """Write kwok's configuration of pods; of nodes it keeps its own."""
    path = directory / "kwok.yaml"
    ready = _stage("ready", _ALIVE, _UNPLACED, _label("NotIn"), then=_READY)
    answers = f"    - {{key: '.metadata.annotations[\"{ANSWERS}\"]', operator: In, values: ['true']}}\n"
    answering = _stage("answering", _ALIVE, _UNPLACED, _label("In"), answers, then=_READY)
    running = "    - {key: .status.phase, operator: In, values: [Running]}\n"
    of_job = "    - {key: '.metadata.ownerReferences.[].kind', operator: In, values: [Job]}\n"
    done = _stage("done", _ALIVE, running, of_job, then=_DONE)
    going = "    - {key: .metadata.deletionTimestamp, operator: Exists}\n"
    gone = _stage("gone", going, then="  next: {finalizers: {empty: true}, delete: true}\n")
    path.write_text(f"{ready}---{answering}---{done}---{gone}")
    return path


def _label(operator: str) -> str:
    return f"    - {{key: '{_MANAGER}', operator: {operator}, values: [controller-manager]}}\n"


def _stage(name: str, *expressions: str, then: str) -> str:
    return _HEAD.format(name=name) + "".join(expressions) + then.lstrip("\n")
