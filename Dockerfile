# Three images; nothing in them is fetched at run time.
#   full   the daemon with Java, Spark and its jars: jobs on the daemon's own machine; also good for drivers and executors
#   slim   the daemon alone: Spark runs in a cluster
#   spark  drivers and executors alone

FROM node:20-bookworm-slim AS page
WORKDIR /source/web
COPY web/package.json web/package-lock.json ./
RUN npm ci
COPY web/ ./
RUN npm run build

# The first library is what the client of HDFS signs in to Kerberos with; the second gives a name to a user id that the cluster has chosen.
FROM python:3.12-slim-bookworm AS base
RUN apt-get update \
 && apt-get install --yes --no-install-recommends libgssapi-krb5-2 libnss-wrapper tini \
 && rm -rf /var/lib/apt/lists/* \
 && python -m compileall -q -x site-packages /usr/local/lib/python3.12
# The group 0 is that of the ids that OpenShift chooses.
RUN groupadd --gid 10001 maintainer \
 && useradd --uid 10001 --gid 10001 --home-dir /var/lib/maintainer --no-create-home --shell /usr/sbin/nologin maintainer \
 && install --directory --owner 10001 --group 0 --mode 0775 /var/lib/maintainer
COPY image/entrypoint /usr/local/bin/entrypoint
ENV PATH=/opt/maintainer/bin:$PATH PYTHONUNBUFFERED=1
WORKDIR /var/lib/maintainer
USER 10001:10001
ENTRYPOINT ["entrypoint"]
# Nothing outside a container reaches its loopback; the publisher of the port decides who reaches it.
ENV MAINTAINER_CONFIG=/etc/maintainer/maintainer.yaml MAINTAINER_SERVER__HOST=0.0.0.0 STATE_DIRECTORY=/var/lib/maintainer
EXPOSE 8080
HEALTHCHECK --start-period=30s CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8080/livez', timeout=5)"]
CMD ["serve"]

# Debian 12 has the Java 17 that Spark 4.1 runs on.
FROM base AS java
USER 0
RUN apt-get update \
 && apt-get install --yes --no-install-recommends openjdk-17-jre-headless \
 && rm -rf /var/lib/apt/lists/* /tmp/*
USER 10001:10001

# One environment, made in parts that change at different times. The lock also holds what development needs; the versions and hashes are the lock's.
FROM java AS build
USER 0
WORKDIR /source
COPY toolchain.lock requirements.lock pyproject.toml ./
RUN awk '/^[a-z]/ { wanted = /^uv==/ } wanted' toolchain.lock >/tmp/uv.lock && pip install --no-cache-dir --require-hashes -r /tmp/uv.lock \
 && python -m venv --without-pip /opt/maintainer
ENV VIRTUAL_ENV=/opt/maintainer UV_COMPILE_BYTECODE=1 UV_NO_CACHE=1

FROM build AS spark-packages
RUN echo pyspark | uv pip compile - --constraint requirements.lock --no-annotate --quiet --output-file /tmp/spark.txt \
 && uv pip install --require-hashes --build-constraints toolchain.lock --constraint requirements.lock --requirement /tmp/spark.txt
# What the download of the jars imports, so that no other change fetches them again.
COPY maintainer/__init__.py maintainer/
COPY maintainer/domain/__init__.py maintainer/domain/errors.py maintainer/domain/
COPY maintainer/adapters/__init__.py maintainer/adapters/extras.py maintainer/adapters/
COPY maintainer/adapters/spark/__init__.py maintainer/adapters/spark/jars.py maintainer/adapters/spark/java.py maintainer/adapters/spark/pins.py maintainer/adapters/spark/trust.py maintainer/adapters/spark/
RUN python -m maintainer.adapters.spark.jars --with aws

FROM build AS daemon-packages
RUN uv pip compile pyproject.toml --all-extras --no-emit-package pyspark --no-emit-package py4j \
    --constraint requirements.lock --no-annotate --quiet --output-file /tmp/daemon.txt \
 && uv pip install --require-hashes --build-constraints toolchain.lock --constraint requirements.lock --requirement /tmp/daemon.txt

FROM build AS package
COPY README.md LICENSE hatch_build.py ./
COPY maintainer/ maintainer/
COPY --from=page /source/maintainer/api/page/ maintainer/api/page/
RUN uv pip install --no-deps --build-constraints toolchain.lock .

FROM java AS spark
COPY --from=spark-packages /opt/maintainer /opt/maintainer
COPY --from=package /opt/maintainer /opt/maintainer
HEALTHCHECK NONE
CMD ["driver"]

FROM base AS slim
COPY --from=daemon-packages /opt/maintainer /opt/maintainer
COPY --from=package /opt/maintainer /opt/maintainer

FROM java AS full
COPY --from=spark-packages /opt/maintainer /opt/maintainer
COPY --from=daemon-packages /opt/maintainer /opt/maintainer
COPY --from=package /opt/maintainer /opt/maintainer
