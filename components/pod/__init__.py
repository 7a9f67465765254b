"""Small programs that run inside an engine's pod: standard library only, mounted as they are from a ConfigMap."""
