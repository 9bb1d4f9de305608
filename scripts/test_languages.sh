#!/bin/sh
# Run the tests of every language, those that `make test` skips where a toolchain is missing too. $1: the
# environment with pytest. Installs what is missing with apt-get, as docs/languages.md names it for the image.
set -eu
venv=$1
cd "$(dirname "$0")/.."

# Programs in the sandbox find their toolchains here, wherever else this user may have others.
toolchain_path=/usr/bin:/bin

missing() {
    for pair in g++:g++ node:nodejs javac:default-jdk-headless go:golang-go rustc:rustc; do
        PATH=$toolchain_path command -v "${pair%%:*}" > /dev/null || printf ' %s' "${pair#*:}"
    done
}

packages=$(missing)
if [ -n "$packages" ]; then
    root=
    [ "$(id -u)" = 0 ] || root=sudo
    echo "Installing$packages ..."
    # shellcheck disable=SC2086
    { $root apt-get update -qq && $root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
        --no-install-recommends $packages; } > /dev/null || true
    packages=$(missing)
    if [ -n "$packages" ]; then
        echo "make: the tests of languages need$packages" >&2
        exit 1
    fi
fi
exec "$venv/bin/python" -m pytest -m 'not hosts and not hostile' \
    tests/verifiers/code/test_code_languages.py tests/sandbox/test_headers.py
