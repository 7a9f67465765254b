"""The KV cache as the engine computes it: to the digit on CPUs, from stated assumptions on GPUs."""
