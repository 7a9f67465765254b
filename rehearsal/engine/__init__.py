"""The stand-in engine: vLLM 0.31.0's command line and HTTP interface over a simulated scheduler.

It computes nothing. Its timing comes from named parameters (`profile.py`), and every figure taken from it is
*simulated*: `GET /splitbed/standin` tells a client so. The pure half (`profile`, `kvcache`, `scheduler`, `pipeline`,
`core`) knows no clock of its own and runs in virtual time as well (`simulation`).
"""

VLLM_VERSION = "0.31.0"
