"""A Kubernetes cluster of real nodes in namespaces of its own."""
