"""Policies from YAML files, with line numbers, and from Apache Polaris."""

from __future__ import annotations

from maintainer.adapters.policies.directory import PolicyDirectory
from maintainer.adapters.policies.properties import read_table_properties
from maintainer.adapters.policies.reading import parse_policy
from maintainer.adapters.policies.schema import policy_schema, write_policy_schema

__all__ = [
    "PolicyDirectory",
    "parse_policy",
    "policy_schema",
    "read_table_properties",
    "write_policy_schema",
]
