"""The fixed texts of the generated files."""

from __future__ import annotations

VALUES = """\
# The values of the chart iceberg-maintainer.
# Generated from helm/generator by `make generate`. Do not edit.
"""

README = """\
# iceberg-maintainer

<!-- Generated from helm/generator by `make generate`. Do not edit. -->

This chart installs iceberg-maintainer, a maintenance daemon for Apache Iceberg. The daemon watches
catalogs, decides by policy which maintenance is worth running, runs Iceberg's procedures on Spark,
and proves what they achieved. [Install on Kubernetes](../../docs/install-kubernetes.md) is the
guide. The chart needs Kubernetes 1.28 or newer, and Helm 3 or 4.

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

No value contains a secret: `secretEnv` sets environment variables from Secrets, and `config` uses
them as `${NAME}`. An unknown value is an error, and so is a combination that cannot work.

## Values

[maintainer.yaml](../../docs/configuration.md) describes the keys of `config`. The chart itself sets
`store`, `policies`, the ports of `server`, `spark.link`, the paths of Spark and the access to the
cluster. Values that Kubernetes defines, such as `resources`, have Kubernetes' own form.

@TABLE@
"""
