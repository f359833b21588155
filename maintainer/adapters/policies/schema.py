"""The JSON schema of a policy file, for editors and for checks before deployment."""

from __future__ import annotations

from json import dumps
from typing import Any

from maintainer.adapters.policies.model import PolicyModel


def policy_schema() -> dict[str, Any]:
    """Return the JSON schema (2020-12) that every valid policy file satisfies.

    The descriptions contain the bounds of sizes and durations.
    """
    schema = PolicyModel.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **tidy(schema)}


def write_policy_schema() -> str:
    """Return the text of policies/schema.json."""
    return dumps(policy_schema(), indent=2, ensure_ascii=False) + "\n"


def tidy(schema: dict[str, Any]) -> dict[str, Any]:
    """Remove null, which no file may hold, and titles that repeat the keys."""
    return {
        key: _tidy_value(key, value)
        for key, value in _unwrap(schema).items()
        if not (key == "title" and isinstance(value, str))
    }


def _tidy_value(key: str, value: Any) -> Any:  # noqa: ANN401 - any JSON
    if key in {"properties", "$defs"}:
        return {name: tidy(inner) for name, inner in value.items()}
    if isinstance(value, dict):
        return tidy(value)
    if isinstance(value, list):
        return [tidy(item) if isinstance(item, dict) else item for item in value]
    return value


def _unwrap(schema: dict[str, Any]) -> dict[str, Any]:
    outer = {
        key: value
        for key, value in schema.items()
        if key != "anyOf" and not (key == "default" and value is None)
    }
    choices = [choice for choice in schema.get("anyOf", ()) if choice != {"type": "null"}]
    match choices:
        case []:
            return outer
        case [only]:
            return {**only, **outer}
        case _:
            return {"anyOf": choices, **outer}
