"""Writes docs/configuration.md from the settings: python -m docs.generator.configuration."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import timedelta
from enum import StrEnum
from inspect import getdoc
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from docs.generator import fold, write_table
from maintainer.adapters.policies.validation import DurationBetween, SizeBetween
from maintainer.domain.units import format_size
from maintainer.policy.writing import write_value
from maintainer.settings.catalogs import CatalogSettings
from maintainer.settings.model import Settings
from maintainer.settings.spark import PoolSettings

_INTRODUCTION = """\
# maintainer.yaml

<!-- Generated from maintainer/settings by `make generate`. Do not edit. -->

The file is `--config FILE`, else the one that `MAINTAINER_CONFIG` names, else `./maintainer.yaml`.
Relative paths start at its directory. An unknown key is an error that names the key, the file and
the line. `maintainer doctor` checks a configuration.

- **Secrets** come from the environment: `${NAME}` in a value. They are never printed or served.
- **Variables**: a value at the top or directly in a section can be set by
  `MAINTAINER_SECTION__KEY`, such as `MAINTAINER_SCAN__INTERVAL=10m`. A variable overrides the file.
- **Sizes** are written `256MiB` or `1.5GB`, **durations** `30s`, `6h` or `5d`.
- In a key, `<name>` stands for a name that you choose, and `[]` for each entry of a list.

Only `catalogs` is required. [Catalog recipes](catalogs.md) shows one for each kind of catalog.
"""
_NO_LIMIT = DurationBetween("0s").greatest
_KINDS: dict[object, str] = {
    bool: "`true` or `false`",
    int: "count",
    float: "number",
    timedelta: "duration",
    Path: "path",
    tuple: "list",
    list: "list",
}
_NESTED: dict[object, str] = {dict: "{}.<name>.", tuple: "{}[]."}
# What a mapping of names holds, where a row of its own says it.
_BY_NAME: dict[object, str] = {
    CatalogSettings: "properties",
    PoolSettings: "keys of this section",
}
_COLUMNS = ("key", "value", "default", "bounds", "meaning")


class Row(NamedTuple):
    """One setting."""

    key: str
    kind: str
    default: str
    bounds: str
    meaning: str


def write_reference() -> str:
    """Return the whole page."""
    sections: list[str] = []
    top: list[Row] = []
    for name, field in Settings.model_fields.items():
        model = _find_model(field.annotation)
        if model is None or model is CatalogSettings:
            top += _list_rows(Settings, {name: field}, "")
            if model is CatalogSettings:
                beside = {
                    key: each for key, each in model.model_fields.items() if key != "properties"
                }
                top += _list_rows(model, beside, f"{name}.<name>.")
        else:
            rows = _list_rows(model, model.model_fields, "")
            sections.append(
                f"## {name}\n\n{fold(getdoc(model) or '')}\n\n{write_table(_COLUMNS, rows)}"
            )
    return (
        "\n".join(
            [
                _INTRODUCTION,
                f"## Top level\n\n{write_table(_COLUMNS, top)}",
                *(f"\n{section}" for section in sections),
            ]
        )
        + "\n"
    )


def _list_rows(owner: type[BaseModel], fields: dict[str, FieldInfo], at: str) -> Iterator[Row]:
    for name, field in fields.items():
        model = _find_model(field.annotation)
        if model is None or model in _BY_NAME:
            key = f"{at}{name}.<name>" if get_origin(field.annotation) is dict else f"{at}{name}"
            yield Row(
                key,
                _write_kind(field),
                _write_default(name, field),
                _write_bounds(field),
                _meaning_of(owner, name, field),
            )
        else:
            inner = _NESTED.get(get_origin(field.annotation), "{}.").format(name)
            yield from _list_rows(model, model.model_fields, at + inner)


def _meaning_of(owner: type[BaseModel], name: str, field: FieldInfo) -> str:
    if not field.description:
        message = f"{owner.__name__}.{name} has no description; write one in its Field(...)"
        raise ValueError(message)
    return field.description


# An annotation can be any type form.
def _find_model(annotation: Any) -> type[BaseModel] | None:  # noqa: ANN401
    """Return the model in an annotation: alone, with None, or in a list or mapping."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(
        (found for part in get_args(annotation) if (found := _find_model(part)) is not None), None
    )


def _flatten(annotation: Any) -> tuple[Any, list[object]]:  # noqa: ANN401 - as above
    """Return the plain type without None, and its Annotated metadata."""
    if get_origin(annotation) in {Union, UnionType}:
        return _flatten(next(part for part in get_args(annotation) if part is not type(None)))
    if get_origin(annotation) is Annotated:
        inner, *said = get_args(annotation)
        kind, more = _flatten(inner)
        return kind, [
            *more,
            *(
                part
                for each in said
                for part in (each.metadata if isinstance(each, FieldInfo) else [each])
            ),
        ]
    return annotation, []


def _write_kind(field: FieldInfo) -> str:
    kind, said = _flatten(field.annotation)
    if any(isinstance(part, SizeBetween) for part in [*said, *field.metadata]):
        return "size"
    if field.examples:
        return f"such as `{field.examples[0]}`"
    if get_origin(kind) is Literal:
        return ", ".join(f"`{value}`" for value in get_args(kind))
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return ", ".join(f"`{value}`" for value in kind)
    if get_origin(kind) is dict:
        value = get_args(kind)[1]
        return _BY_NAME.get(value) or _KINDS.get(get_origin(_flatten(value)[0]), "text")
    return _KINDS.get(get_origin(kind) or kind, "text")


def _write_bounds(field: FieldInfo) -> str:
    said = [*_flatten(field.annotation)[1], *field.metadata]
    for part in said:
        if isinstance(part, DurationBetween | SizeBetween):
            return (
                f"at least {part.least}"
                if part.greatest == _NO_LIMIT
                else f"{part.least} to {part.greatest}"
            )
    least = next((part.ge for part in said if hasattr(part, "ge")), None)
    most = next((part.le for part in said if hasattr(part, "le")), None)
    if most is None:
        return ""
    return f"{write_value('', least)} to {write_value('', most)}"


def _write_default(name: str, field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if value is None or value in ({}, ()):
        return ""
    if isinstance(value, int) and any(isinstance(part, SizeBetween) for part in field.metadata):
        return format_size(value).replace(" ", "")
    if isinstance(value, tuple):
        return "all" if name == "kinds" else ", ".join(map(str, value))
    return write_value("", value)


if __name__ == "__main__":
    sys.stdout.write(write_reference())
