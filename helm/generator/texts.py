"""The fixed texts of the generated files."""

from __future__ import annotations

VALUES = """\
# The values of the chart iceberg-maintainer.
# Generated from helm/generator by `make generate`. Do not edit.
"""

README = """\
# iceberg-maintainer

<!-- Generated from helm/generator by `make generate`. Do not edit. -->

A maintenance daemon for Apache Iceberg: it watches catalogs, decides by policy what is worth doing,
runs Spark procedures and proves what they achieved. The guide is
[docs/install-kubernetes.md](../../docs/install-kubernetes.md). Kubernetes 1.28 or newer, Helm 3 or
4.

```yaml
# values.yaml
image: {registry: registry.example}      # where you pushed the image
secretEnv:
  LAKE_CREDENTIAL: {secretName: lake, key: credential}
config:                                  # maintainer.yaml: docs/configuration.md has every key
  catalogs:
    lake: {type: rest, uri: https://catalog.example/, credential: "${LAKE_CREDENTIAL}"}
policies:
  default.yaml: |
    tables: lake.*.*
    mode: observe
```

    helm install maintainer helm/iceberg-maintainer --values values.yaml
    helm test maintainer

No value holds a secret: `secretEnv` names Secrets, and `config` takes what they hold by `${NAME}`.
An unknown value is an error, and so is a combination that cannot work.

## Values

`config` is described in [maintainer.yaml](../../docs/configuration.md). Of its keys the chart sets
`store`, `policies`, `server.port`, `spark.link`, the paths of Spark and how to reach the cluster.
Values that Kubernetes defines are given as Kubernetes writes them.

@TABLE@
"""
