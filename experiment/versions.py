"""Versions of everything the package pulls in, each in one place, with the hint by which renovate finds newer ones."""

# renovate: datasource=helm registryUrl=oci://registry.k8s.io/lws/charts depName=lws
LWS_VERSION = "0.9.0"
LWS_CHART = "oci://registry.k8s.io/lws/charts/lws"
LWS_IMAGE = f"registry.k8s.io/lws/lws:v{LWS_VERSION}"

# renovate: datasource=github-releases depName=vllm-project/vllm
VLLM_VERSION = "0.31.0"

# renovate: datasource=endoflife-date depName=amazon-eks
KUBERNETES_VERSION = "1.34"

# renovate: datasource=docker depName=public.ecr.aws/aws-cli/aws-cli
AWS_CLI_IMAGE = "public.ecr.aws/aws-cli/aws-cli:2.32.9"

# renovate: datasource=docker depName=nvcr.io/nvidia/k8s-device-plugin
DEVICE_PLUGIN_IMAGE = "nvcr.io/nvidia/k8s-device-plugin:v0.18.0"

# renovate: datasource=docker depName=public.ecr.aws/eks/aws-efa-k8s-device-plugin
EFA_PLUGIN_IMAGE = "public.ecr.aws/eks/aws-efa-k8s-device-plugin:v0.5.7"

# renovate: datasource=docker depName=nvcr.io/nvidia/k8s/dcgm-exporter
DCGM_EXPORTER_IMAGE = "nvcr.io/nvidia/k8s/dcgm-exporter:4.6.1-4.8.4-distroless"

# renovate: datasource=docker depName=otel/opentelemetry-collector-contrib
COLLECTOR_VERSION = "0.165.1"
COLLECTOR_IMAGE = f"docker.io/otel/opentelemetry-collector-contrib:{COLLECTOR_VERSION}"
