"""What the benchmark's Job sees and may do in its cluster, beside asking the server."""
