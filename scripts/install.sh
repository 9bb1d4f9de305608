#!/bin/sh
# Create the virtual environment $1 and install the locked packages and this project (editable) into it.
set -eu
venv=$1

suits() { "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; }

python=
for name in ${PYTHON:-python3 python3.13 python3.12 python3.11}; do
    if suits "$name"; then python=$name; break; fi
done
if [ -z "$python" ]; then
    echo "make: goldcheck needs Python 3.11, 3.12 or 3.13; found $(python3 -V 2>&1 || true). Set PYTHON=/path/to/python3" >&2
    exit 1
fi
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    echo "make: $python cannot make virtual environments; install its venv package (Debian, Ubuntu: apt install python$version-venv)" >&2
    exit 1
fi

# An environment that was moved, half made, or belongs to another interpreter is made anew.
if ! suits "$venv/bin/python" || ! "$venv/bin/python" -m pip --version >/dev/null 2>&1 \
    || [ "$(cat "$venv/.home" 2>/dev/null)" != "$(pwd)" ]; then
    rm -rf "$venv"
    "$python" -m venv "$venv"
    pwd > "$venv/.home"
fi
echo "Installing goldcheck into $venv (about a minute the first time) ..."
pip="$venv/bin/python -m pip --disable-pip-version-check --quiet"
$pip install --require-hashes -r requirements.lock -r requirements-dev.lock
$pip install --no-build-isolation --no-deps --editable .
