#!/bin/sh
# Lint the Dockerfile (hadolint) and the Compose file (docker compose config), in an environment of their own.
set -eu
cd "$(dirname "$0")/.."
venv=.venv-deploy
if [ ! -x $venv/bin/hadolint ] || [ ! -x $venv/bin/docker-compose ]; then
    rm -rf $venv
    "${PYTHON:-python3}" -m venv $venv
    $venv/bin/python -m pip --disable-pip-version-check --quiet install --require-hashes -r deploy/requirements-lint.txt
fi
$venv/bin/hadolint Dockerfile
$venv/bin/docker-compose -f docker-compose.yml config --quiet
echo "Dockerfile and docker-compose.yml: no findings"
