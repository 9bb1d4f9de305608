# goldcheck as a sidecar. Built with the classic builder too: no BuildKit-only features.
FROM python:3.11-slim AS build

WORKDIR /build
COPY requirements.lock ./
RUN python3 -m venv /opt/venv \
    && /opt/venv/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY app app
COPY audit audit
COPY rollouts rollouts
COPY sandbox sandbox
COPY verifiers verifiers
RUN /opt/venv/bin/pip install --no-cache-dir --disable-pip-version-check --no-build-isolation --no-deps . \
    && /opt/venv/bin/pip uninstall --quiet --yes hatchling editables pathspec pluggy trove-classifiers


FROM python:3.11-slim

# Languages beside Python and Bash: Debian's packages. All that are known to goldcheck:
# --build-arg LANGUAGES="g++ nodejs default-jdk-headless golang-go rustc"
ARG LANGUAGES="g++ nodejs"
# hadolint ignore=DL3008,SC2086
RUN apt-get update \
    && apt-get install -y --no-install-recommends $LANGUAGES \
    && rm -rf /var/lib/apt/lists/*

# A fixed number, so that volumes and pod security contexts can name it.
RUN groupadd --gid 10001 goldcheck \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin goldcheck \
    && mkdir /data \
    && chown 10001:10001 /data
COPY --from=build /opt/venv /opt/venv

ENV PATH=/opt/venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    GOLDCHECK_DATA_DIR=/data
WORKDIR /data
USER 10001:10001
VOLUME /data
EXPOSE 8000

# Liveness only: a degraded sandbox must not get the container killed; /readyz tells the orchestrator the rest.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 \
    CMD ["python3", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/healthz', timeout=2)"]
# Listening on all addresses needs GOLDCHECK_API_KEYS, or GOLDCHECK_ALLOW_ANONYMOUS=1 inside a private network.
CMD ["goldcheck", "serve", "--host", "0.0.0.0", "--port", "8000"]
