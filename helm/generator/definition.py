"""The CustomResourceDefinition of policies, from the schema of a policy file.

The API server wants one type for each field, no references, and no closed objects: it drops unknown
fields by itself, and kubectl refuses them.
"""

from __future__ import annotations

from typing import Any

import yaml

from maintainer.adapters.policies.kubernetes import POLICY
from maintainer.adapters.policies.model import policy_schema
from maintainer.domain.health import Band
from maintainer.domain.job import JobState

Schema = dict[str, Any]

_DROPPED = {"$defs", "$schema", "additionalProperties", "examples"}
_OF_LISTS = {"minLength": "minItems", "maxLength": "maxItems"}
_TEXT: Schema = {"type": "string"}
_INSTANT: Schema = {"type": "string", "format": "date-time"}
_COUNT: Schema = {"type": "integer", "format": "int64"}
_TABLES: Schema = {
    "type": "array",
    "minItems": 1,
    "items": {"type": "string", "minLength": 1},
    "description": "Names of tables (catalog.namespace.table), or globs over whole names; all of "
    "them within the bounds that the daemon's configuration sets for the namespace.",
}
_CONDITION: Schema = {
    "type": "object",
    "required": ["type", "status", "reason", "message", "lastTransitionTime"],
    "properties": {
        "type": _TEXT,
        "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
        "reason": _TEXT,
        "message": _TEXT,
        "observedGeneration": _COUNT,
        "lastTransitionTime": _INSTANT,
    },
}
_STATUS: Schema = {
    "type": "object",
    "description": "What the daemon last saw of the tables that the policy names.",
    "properties": {
        "observedGeneration": _COUNT | {"description": "The generation that was read last."},
        "tables": _COUNT | {"description": "How many known tables the policy names."},
        "band": {
            "type": "string",
            "enum": [band.value for band in Band],
            "description": "The worst band of these tables.",
        },
        "averageFileSize": _TEXT | {"description": "The mean size of their data files."},
        "averageFileSizeBytes": _COUNT,
        "lastJob": {
            "type": "object",
            "description": "The newest job on one of them.",
            "properties": {
                "id": _TEXT,
                "table": _TEXT,
                "rule": _TEXT,
                "state": {"type": "string", "enum": [state.value for state in JobState]},
            },
        },
        "nextCheckAt": _INSTANT | {"description": "When the next of them is planned again."},
        "conditions": {
            "type": "array",
            "items": _CONDITION,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["type"],
        },
    },
}
_COLUMNS = {
    "Tables": ".spec.tables",
    "Band": ".status.band",
    "Average file size": ".status.averageFileSize",
    "Last job": ".status.lastJob.state",
    # as text: kubectl shows a date as the time since then, and no time to come
    "Next check": ".status.nextCheckAt",
    "Ready": '.status.conditions[?(@.type=="Ready")].status',
}
_HEAD = "# Generated from the schema of a policy file by `make generate`. Do not edit.\n"


def policy_definition() -> Schema:
    """Return the CustomResourceDefinition."""
    file = policy_schema()
    spec = _write_structural(file, file["$defs"])
    spec["properties"]["tables"] = _TABLES
    columns = [
        {"name": name, "type": "string", "jsonPath": path} for name, path in _COLUMNS.items()
    ]
    age = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{POLICY.plural}.{POLICY.group}"},
        "spec": {
            "group": POLICY.group,
            "scope": "Namespaced",
            "names": {
                "kind": POLICY.name,
                "listKind": f"{POLICY.name}List",
                "plural": POLICY.plural,
                "singular": POLICY.name.lower(),
                "shortNames": ["itp"],
            },
            "versions": [
                {
                    "name": POLICY.version,
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "additionalPrinterColumns": [*columns, age],
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "required": ["spec"],
                            "properties": {
                                "apiVersion": _TEXT,
                                "kind": _TEXT,
                                "metadata": {"type": "object"},
                                "spec": spec | {"required": ["tables"]},
                                "status": _STATUS,
                            },
                        }
                    },
                }
            ],
        },
    }


class _Plain(yaml.SafeDumper):
    """Writes what appears twice in full, for readers and for Helm."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - as YAML calls it
        return True


def write_definition() -> str:
    """Return the text of the definition's file."""
    return _HEAD + yaml.dump(policy_definition(), Dumper=_Plain, sort_keys=False, width=100)


def _write_structural(schema: Schema, parts: Schema) -> Schema:
    """Resolve references and alternatives, and leave out what the API server refuses."""
    if "$ref" in schema:
        said = {key: value for key, value in schema.items() if key != "$ref"}
        return _write_structural(parts[schema["$ref"].rpartition("/")[2]] | said, parts)
    written: Schema = {}
    for key, value in schema.items():
        if key == "properties":
            written[key] = {name: _write_structural(one, parts) for name, one in value.items()}
        elif key == "items":
            written[key] = _write_structural(value, parts)
        elif key == "anyOf":
            written |= _write_either(value)
        elif key not in _DROPPED:
            is_of_list = schema.get("type") == "array" and key in _OF_LISTS
            written[_OF_LISTS[key] if is_of_list else key] = value
    if "type" not in written and "enum" in written:
        is_switch = all(isinstance(value, bool) for value in written["enum"])
        return written | {"type": "boolean" if is_switch else "string"}
    return written


def _write_either(choices: list[Schema]) -> Schema:
    """Write a size, which is a number or a text, or a duration that may be off."""
    match choices:
        case [{"const": word}, {"type": "string", "pattern": pattern}]:
            return {"type": "string", "pattern": f"^{word}$|{pattern}"}
        case [{"type": "integer", "minimum": least}, {"type": "string", "pattern": pattern}]:
            return {"x-kubernetes-int-or-string": True, "minimum": least, "pattern": pattern}
        case _:
            return {}  # tables, which is a list here
