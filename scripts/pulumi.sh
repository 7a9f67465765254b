#!/bin/sh
# Runs the Pulumi CLI that `splitbed tools` finds or builds, with our language host where the official one is missing.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
pulumi=$("$here/.venv/bin/splitbed" tools build pulumi --json | "$here/.venv/bin/python" -c 'import json, sys; print(json.load(sys.stdin)["pulumi"])')
export SPLITBED_PYTHON="$here/.venv/bin/python"
# Last on PATH: an official host is taken where there is one.
export PATH="$(dirname "$pulumi"):$here/.venv/bin:$PATH:$here/rehearsal/languagehost/bin"
cd "$here"
exec "$pulumi" "$@"
