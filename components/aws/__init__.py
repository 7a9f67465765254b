"""The AWS half: network, cluster, nodes and what ends them; one noun a file."""
