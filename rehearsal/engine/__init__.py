"""A stand-in for vLLM 0.31.0 whose timing is known exactly; what it measures is simulated."""
