# Two commands matter: `make serve` and `make test`. Both set up all they need in .venv.
PORT ?= 8000
HOST ?= 127.0.0.1
WORKERS ?= 1
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed-$(shell pwd | cksum | cut -d' ' -f1)

.PHONY: help install serve test check format test-hostile test-hosts test-languages fuzz test-arrays test-browser lint-docker lock clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 16

install: $(STAMP) ## create .venv and install the locked packages and this project into it

$(STAMP): requirements.lock requirements-dev.lock pyproject.toml scripts/install.sh
	@scripts/install.sh $(VENV)
	@touch $@

serve: install ## start the service on $(HOST):$(PORT)
	@exec $(BIN)/goldcheck serve --host $(HOST) --port $(PORT) --workers $(WORKERS)

test: install ## run the test suite (about five minutes on two cores)
	$(BIN)/pytest -n 2 --dist loadfile

check: install ## what CI checks besides the tests: lint, format, types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: install ## rewrite the sources in the house format
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

test-hostile: COUNT = 2000
test-hostile: install ## COUNT runs: hostile programs mixed with good ones
	GOLDCHECK_HOSTILE_RUNS=$(COUNT) $(BIN)/pytest -m hostile tests

test-hosts: install ## the threats and the handed cases as on hosts that offer less
	$(BIN)/pytest -m hosts $(or $(TESTS),tests/sandbox)

test-languages: install ## hostile programs and compilers in every language (installs those that are missing)
	scripts/test_languages.sh $(VENV)

COUNT ?= 1000000
SEED ?= 1
PROCESSES ?= 2
fuzz: install ## COUNT random and mutated responses through the math verifier
	$(BIN)/python tests/verifiers/math/math_fuzz.py $(COUNT) $(SEED) $(PROCESSES) benchmarks/results/fuzz.json

test-arrays: install ## rollouts on PyTorch and JAX, and against TRL's loss (an environment of its own)
	@[ -x .venv-arrays/bin/python ] || $(BIN)/python -m venv .venv-arrays
	.venv-arrays/bin/python -m pip --disable-pip-version-check --quiet install -r requirements-arrays.txt
	.venv-arrays/bin/python -m pytest tests/arrays

test-browser: install ## the pages in a real headless Chromium (installs it where it is missing)
	scripts/test_browser.sh $(VENV)

lint-docker: ## lint Dockerfile, docker-compose.yml and Kubernetes manifests
	deploy/lint.sh

lock: ## resolve the locked requirements anew (needs uv)
	uv pip compile --no-config -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	    --no-emit-find-links --only-binary :all: --emit-build-options --no-header \
	    --extra postgres --group build pyproject.toml -o requirements.lock
	uv pip compile --no-config -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	    --no-emit-find-links --only-binary :all: --emit-build-options --no-header \
	    --group dev -c requirements.lock -o requirements-dev.lock

clean: ## remove the environment and caches (data in .data stays)
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
