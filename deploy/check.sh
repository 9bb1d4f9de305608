#!/bin/bash
# Build the image and prove it: Compose with a trainer, and every way of running it that docs/security.md names.
#
#   deploy/check.sh [CASES]     CASES: a folder of further code cases with their driver (see deploy/check/handed.py)
#
# Everything happens in a Docker engine of its own, which goes away again. Needs root. Exit status 77: no engine
# can run here, and nothing was checked.
set -euo pipefail
cd "$(dirname "$0")/.."
cases=${1:-}

. deploy/check/engine.sh
. deploy/check/base_image.sh

work=$(mktemp -d)
finish() {
    engine_stop
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

engine_start "$work" || { echo "NOT CHECKED: no Docker engine can run here"; exit 77; }
base_image "$(sed -n 's/^FROM \([^ ]*\)$/\1/p' Dockerfile)" "$work" || { echo "NOT CHECKED: no base image"; exit 77; }
make install
deploy/lint.sh
cp .venv-deploy/bin/docker-compose "$DOCKER_CONFIG/cli-plugins/docker-compose"

echo "== image"
# Not every engine has BuildKit; the Dockerfile needs none.
DOCKER_BUILDKIT=0 docker build --quiet --tag goldcheck:check . > "$work/build.log" 2>&1 ||
    { tail -n 20 "$work/build.log"; exit 1; }
.venv/bin/python deploy/check/bill.py goldcheck:check
.venv/bin/python deploy/check/prove.py goldcheck:check "$work" ${cases:+"$cases"}
