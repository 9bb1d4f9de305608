#!/bin/sh
# Run tests/browser: a real headless Chromium (Debian's) against a service of this tree. $1: the service's
# environment. Installs what is missing: the browser with apt-get, Playwright in an environment of its own.
set -eu
venv=$1
cd "$(dirname "$0")/.."

find_chromium() { command -v "${CHROMIUM:-chromium}" || command -v chromium-browser || command -v google-chrome; }

if ! chromium=$(find_chromium); then
    root=
    [ "$(id -u)" = 0 ] || root=sudo
    echo "Installing Chromium ..."
    { $root apt-get update -qq && $root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
        --no-install-recommends chromium fonts-dejavu-core; } >/dev/null || true
    chromium=$(find_chromium) || {
        echo "make: the browser tests need Chromium; install it, or set CHROMIUM=/path/to/it" >&2
        exit 1
    }
fi
[ -x .venv-browser/bin/python ] || "$venv/bin/python" -m venv .venv-browser
.venv-browser/bin/python -m pip --disable-pip-version-check --quiet install -r requirements-browser.txt
CHROMIUM=$chromium GOLDCHECK_COMMAND=$(pwd)/$venv/bin/goldcheck \
    exec .venv-browser/bin/python -m pytest -s tests/browser
