# The daemon with its Java, its Spark jars and its page; nothing in it is fetched at run time.

FROM node:20-bookworm-slim AS page
WORKDIR /source/web
COPY web/package.json web/package-lock.json ./
RUN npm ci
COPY web/ ./
RUN npm run build

# Debian 12, because it has the Java 17 that Spark 4.1 runs on. The library is what the client of HDFS signs in to Kerberos with.
FROM python:3.12-slim-bookworm AS base
RUN apt-get update \
 && apt-get install --yes --no-install-recommends libgssapi-krb5-2 openjdk-17-jre-headless tini \
 && rm -rf /var/lib/apt/lists/*
ENV PATH=/opt/maintainer/bin:$PATH PYTHONUNBUFFERED=1

FROM base AS build
WORKDIR /source
RUN python -m venv /opt/maintainer
COPY toolchain.lock requirements.lock pyproject.toml ./
RUN awk '/^[a-z]/ { wanted = /^uv==/ } wanted' toolchain.lock >/tmp/uv.lock && pip install --no-cache-dir --require-hashes -r /tmp/uv.lock
# The lock also holds what development needs; what the daemon needs is taken from it, with the lock's own versions and hashes.
ENV VIRTUAL_ENV=/opt/maintainer
RUN uv pip compile pyproject.toml --all-extras --constraint requirements.lock --no-annotate --quiet --output-file /tmp/runtime.txt \
 && uv pip install --no-cache --require-hashes --build-constraints toolchain.lock --constraint requirements.lock --requirement /tmp/runtime.txt
COPY README.md LICENSE hatch_build.py ./
COPY maintainer/ maintainer/
COPY --from=page /source/maintainer/api/page/ maintainer/api/page/
RUN uv pip install --no-cache --no-deps --build-constraints toolchain.lock . \
 && python -m maintainer.adapters.spark.jars \
 && uv pip uninstall pip uv

FROM base
RUN useradd --system --uid 10001 --home-dir /var/lib/maintainer --create-home maintainer
COPY --from=build /opt/maintainer /opt/maintainer
USER 10001
WORKDIR /var/lib/maintainer
# Inside a container loopback is nobody: who may reach the port is the matter of whoever publishes it.
ENV MAINTAINER_SERVER__HOST=0.0.0.0
EXPOSE 8080
HEALTHCHECK --start-period=30s CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8080/livez', timeout=5)"]
ENTRYPOINT ["tini", "--", "maintainer"]
ENV MAINTAINER_CONFIG=/etc/maintainer/maintainer.yaml
CMD ["serve"]
