#!/bin/sh
# Makes .venv with the locked requirements, and Splitbed itself in it. Idempotent; nothing is put outside the tree.
set -eu
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
if ! "$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then
    echo "Splitbed needs Python 3.11 to 3.13, and $python is $("$python" --version 2>&1 || echo missing)." \
         "Set PYTHON to one that fits." >&2
    exit 1
fi
if [ ! -x .venv/bin/python ] || ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    if ! "$python" -c 'import ensurepip' 2>/dev/null; then
        # Debian and Ubuntu keep venv's installer apart.
        if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
            echo "Installing the Debian package python3-venv: $python cannot make a virtual environment without it."
            apt-get update -qq && apt-get install -y -qq --no-install-recommends --no-remove python3-venv
        else
            echo "$python cannot make a virtual environment: install python3-venv." >&2
            exit 1
        fi
    fi
    echo "Making .venv"
    rm -rf .venv
    "$python" -m venv .venv
fi
echo "Installing the locked requirements into .venv (about a minute the first time)"
.venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/uv.txt
# uv takes seconds where pip takes minutes; pip does it where an index is known to pip alone.
if ! .venv/bin/uv pip install --quiet --python .venv/bin/python --require-hashes -r requirements/dev.txt; then
    echo "uv cannot reach the packages; installing with pip instead (some minutes)"
    # The lock is whole. pip knows nothing of its override, and would stop at what pulumi-policy says of protobuf.
    .venv/bin/python -m pip install --quiet --no-compile --disable-pip-version-check --no-deps --require-hashes \
        -r requirements/dev.txt
fi
# The build backend looks for its own program on PATH.
PATH="$PWD/.venv/bin:$PATH" .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
.venv/bin/python scripts/bytecode.py
