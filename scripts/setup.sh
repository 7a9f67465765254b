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
.venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
# The build backend looks for its own program on PATH.
PATH="$PWD/.venv/bin:$PATH" .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
# Compiled once, here: where Python is told to write no bytecode, each command, and Pulumi twice in each, would compile
# all it imports again. Packages carry a file now and then that is not meant for this Python.
.venv/bin/python -m compileall -q -q -j 0 .venv/lib benchmark components experiment rehearsal report scripts stackfiles || true
