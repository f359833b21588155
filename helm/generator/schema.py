"""The JSON schema of the chart's values: closed, with the daemon's own settings under `config`."""

from __future__ import annotations

from json import dumps
from typing import Any

from helm.generator.model import Values
from maintainer.adapters.policies.model import tidy
from maintainer.domain.redaction import SECRET_WORDS
from maintainer.settings import Settings

Schema = dict[str, Any]

# YARN's drivers would need a link that is reached from outside the cluster.
_ELSEWHERE = ("link", "java_home", "jars_dir", "jars", "run_dir", "driver_host", "yarn")
# What the chart sets from other values, or from where the image has it.
SET_BY_THE_CHART = {
    "Settings": ("store", "policies"),
    "ServerSettings": ("port", "probes_port"),
    "PoolSettings": _ELSEWHERE,
    "SparkSettings": _ELSEWHERE,
    "KubernetesSettings": ("kubeconfig", "context", "service_account"),
    "KubernetesPolicySettings": ("kubeconfig", "context"),
}
# The chart has defaults for what the daemon requires here.
REQUIRED_BY_THE_CHART: dict[str, list[str]] = {"Settings": [], "KubernetesSettings": []}

_REFERENCE = r"\$\{[A-Za-z_][A-Za-z0-9_]*\}"
_SECRET_NAME = "|".join(
    "".join(f"[{letter.upper()}{letter}]" for letter in word) for word in SECRET_WORDS
)
_PASSWORD_IN_URL = r"://[^/?#@:\s]*:[^$@/][^@/]*@"  # noqa: S105 - a pattern
# Helm reads numbers as floating point, which would turn 1.10 into 1.1: texts and switches only.
_TEXT: Schema = {"anyOf": [{"type": "boolean"}, {"$ref": "#/$defs/TextWithoutSecret"}]}
_DEFINITIONS: Schema = {
    "TextWithoutSecret": {"type": "string", "not": {"pattern": _PASSWORD_IN_URL}},
    "SecretReference": {
        "description": "A secret comes from a variable, as ${NAME}, or is the path of a file.",
        "anyOf": [{"type": "boolean"}, {"type": "string", "pattern": f"{_REFERENCE}|^/"}],
    },
}
_PROPERTIES: Schema = {
    "type": "object",
    "patternProperties": {_SECRET_NAME: {"$ref": "#/$defs/SecretReference"}},
    "additionalProperties": _TEXT,
}
_SECRETS: Schema = {
    "type": "object",
    "additionalProperties": {"$ref": "#/$defs/SecretReference"},
}
_KEPT_NAMES = {"properties", "patternProperties", "$defs"}


def values_schema() -> Schema:
    """Return the schema of values.yaml (draft 7, which every Helm 3 and 4 knows)."""
    chart, config = tidy(Values.model_json_schema()), _config_schema()
    chart_parts, config_parts = chart.pop("$defs"), config.pop("$defs")
    assert not chart_parts.keys() & config_parts.keys()  # noqa: S101 - a name would change its meaning
    chart["properties"]["config"] = {
        "$ref": "#/$defs/Settings",
        "description": chart["properties"]["config"]["description"],
    }
    parts = {**chart_parts, **config_parts, "Settings": config, **_DEFINITIONS}
    return _close(
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            **chart,
            "$defs": dict(sorted(parts.items())),
        }
    )


def write_schema() -> str:
    """Return the text of values.schema.json."""
    return dumps(values_schema(), indent=2, ensure_ascii=False) + "\n"


def _config_schema() -> Schema:
    """Return the schema of maintainer.yaml, without what the chart sets, and without secrets."""
    schema = tidy(Settings.model_json_schema())
    parts = schema["$defs"]
    models = {**parts, "Settings": schema}
    for name, keys in SET_BY_THE_CHART.items():
        for key in keys:
            del models[name]["properties"][key]
    for name, required in REQUIRED_BY_THE_CHART.items():
        models[name]["required"] = required
    del parts["LinkSettings"], parts["YarnSettings"]
    parts["CatalogSettings"] = {
        **_PROPERTIES,
        "properties": {
            "spark": _PROPERTIES,
            "locations": _PROPERTIES,
            "storage": {"$ref": "#/$defs/StorageSettings"},
        },
    }
    for section in ("SparkSettings", "PoolSettings"):
        parts[section]["properties"]["conf"] |= _PROPERTIES
        parts[section]["properties"]["runner"]["enum"] = ["process", "kubernetes"]
    parts["AuthSettings"]["properties"]["tokens"]["additionalProperties"] = {
        "anyOf": [{"$ref": "#/$defs/SecretReference"}, {"$ref": "#/$defs/TokenSettings"}]
    }
    for section, secret in (
        ("TokenSettings", "token"),
        ("AuthSettings", "session_key"),
        ("OidcSettings", "client_secret"),
    ):
        # The reference may be shorter than the secret.
        parts[section]["properties"][secret] |= {"pattern": _REFERENCE, "minLength": 1}
    parts["NotificationSettings"]["properties"]["targets"] |= _SECRETS
    for secret in ("token", "credential"):
        parts["PolarisSettings"]["properties"][secret] |= {"pattern": _REFERENCE}
    return schema


def _close(schema: Schema) -> Schema:
    """Allow no unknown key, and leave out defaults, which the daemon writes in another form."""
    closed: Schema = {}
    for key, value in schema.items():
        if key in _KEPT_NAMES:
            closed[key] = {name: _close(part) for name, part in value.items()}
        elif isinstance(value, dict) and key != "default":
            closed[key] = _close(value)
        elif isinstance(value, list) and key == "anyOf":
            closed[key] = [_close(part) for part in value]
        elif key not in {"default", "format", "examples"}:
            closed[key] = value
    if "properties" in closed or "patternProperties" in closed:
        closed.setdefault("additionalProperties", False)
    return closed
