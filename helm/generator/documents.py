"""values.yaml and the chart's README.md, from the model of the values."""

from __future__ import annotations

from collections.abc import Iterator
from json import dumps
from textwrap import indent, wrap
from typing import Any

from pydantic import BaseModel

from helm.generator.model import Values
from helm.generator.texts import README, VALUES

_WIDTH = 100


def write_values() -> str:
    """Return the text of values.yaml: every value with its default and its meaning."""
    return VALUES + "\n" + "\n".join(_write_part(Values())) + "\n"


def _write_part(part: BaseModel) -> Iterator[str]:
    for name, field in type(part).model_fields.items():
        yield from _comment(field.description or "")
        value = getattr(part, name)
        key = field.alias or name
        if isinstance(value, BaseModel):
            yield f"{key}:"
            yield indent("\n".join(_write_part(value)), "  ")
        else:
            yield f"{key}: {_write_value(value)}"


def _comment(text: str) -> list[str]:
    return [f"# {line}" for line in wrap(text, _WIDTH - 8)]


def _write_value(value: object) -> str:
    return dumps(value)  # every JSON value is YAML


def write_readme() -> str:
    """Return the text of the chart's README.md."""
    rows = [f"| `{key}` | `{value}` | {meaning} |" for key, value, meaning in _rows(Values(), "")]
    table = "\n".join(["| value | default | meaning |", "|---|---|---|", *rows])
    return README.replace("@TABLE@", table)


def _rows(part: BaseModel, at: str) -> Iterator[tuple[str, str, str]]:
    for name, field in type(part).model_fields.items():
        value: Any = getattr(part, name)
        key = f"{at}{field.alias or name}"
        if isinstance(value, BaseModel):
            yield from _rows(value, f"{key}.")
        else:
            meaning = (field.description or "").replace("|", "\\|")
            yield key, _write_value(value), meaning
