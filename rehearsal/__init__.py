"""A real Kubernetes, the real Pulumi engine and a stand-in for vLLM on one machine."""
