#!/bin/sh
# Lint Dockerfile (hadolint), Compose file (docker compose config) and Kubernetes manifests (kubernetes-validate
# against their schemas), in an environment of their own.
set -eu
cd "$(dirname "$0")/.."
venv=.venv-deploy
if ! cmp -s deploy/requirements-lint.txt $venv/installed.txt; then
    rm -rf $venv
    "${PYTHON:-python3}" -m venv $venv
    $venv/bin/python -m pip --disable-pip-version-check --quiet install --require-hashes -r deploy/requirements-lint.txt
    cp deploy/requirements-lint.txt $venv/installed.txt
fi
$venv/bin/hadolint Dockerfile
$venv/bin/docker-compose -f docker-compose.yml config --quiet
$venv/bin/kubernetes-validate --quiet --strict deploy/k8s/*.yaml
echo "Dockerfile, docker-compose.yml, deploy/k8s: no findings"
