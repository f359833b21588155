"""/docs: the OpenAPI document as plain HTML, without scripts or external resources."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from fastapi import FastAPI
from fastapi.responses import HTMLResponse

_STYLE = (
    ":root{color-scheme:light dark}body{font:16px/1.5 "
    "system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem}"
    "code{font-family:ui-monospace,monospace}summary{cursor:pointer;padding:.3rem 0}summary "
    "code{font-weight:600}"
    "table{border-collapse:collapse;margin:.5rem 0 1rem}td,th{border:1px solid "
    "#8886;padding:.2rem .6rem;text-align:left;vertical-align:top}"
)


def register_documentation(api: FastAPI) -> None:
    """Serve /docs."""

    @api.get("/docs", include_in_schema=False)
    def get_documentation() -> HTMLResponse:
        return HTMLResponse(write_documentation(api.openapi()))


def write_documentation(document: dict[str, Any]) -> str:
    """Write the document as one page of HTML."""
    info = document["info"]
    body = [
        (
            f"<h1>{escape(info['title'])} "
            f"{escape(info['version'])}</h1><p>{escape(info.get('description', ''))}</p>"
        ),
        "<p>For machines: <a href=openapi.json>openapi.json</a></p>",
    ]
    for tag in document.get("tags", []):
        body.append(f"<h2>{escape(tag['name'])}</h2><p>{escape(tag.get('description', ''))}</p>")
        body.extend(_write_operations(document, tag["name"]))
    body.append("<h2>schemas</h2>")
    body.extend(
        _write_schema(name, schema)
        for name, schema in sorted(document["components"]["schemas"].items())
    )
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(info['title'])}: "
        f"API</title><style>{_STYLE}</style>{''.join(body)}</html>"
    )


def _write_operations(document: dict[str, Any], tag: str) -> Iterator[str]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if tag in operation.get("tags", []):
                yield _write_operation(f"{method.upper()} {path}", operation)


def _write_operation(title: str, operation: dict[str, Any]) -> str:
    parameters = [
        (
            f"{parameter['name']} ({parameter['in']})",
            _describe_type(parameter["schema"]),
            parameter.get("description", ""),
        )
        for parameter in operation.get("parameters", [])
    ]
    parameters += (
        [("body", _describe_content(operation["requestBody"]), "")]
        if "requestBody" in operation
        else []
    )
    responses = [
        (status, _describe_content(response), response["description"])
        for status, response in operation["responses"].items()
    ]
    return (
        f"<details><summary><code>{escape(title)}</code> "
        f"{escape(operation.get('summary', ''))}</summary>"
        f"<p>{escape(operation.get('description', ''))}</p>"
        f"{_write_table('parameter', parameters)}{_write_table('status', responses)}</details>"
    )


def _write_schema(name: str, schema: dict[str, Any]) -> str:
    rows = [
        (field, _describe_type(shape), shape.get("description", ""))
        for field, shape in schema.get("properties", {}).items()
    ]
    rows = rows or [("", _describe_type(schema), "")]
    return (
        f"<details id='{escape(name)}'><summary><code>{escape(name)}</code></summary>"
        f"<p>{escape(schema.get('description', ''))}</p>{_write_table('field', rows)}</details>"
    )


def _write_table(first: str, rows: list[tuple[str, str, str]]) -> str:
    if not rows:
        return ""
    cells = "".join(
        f"<tr><td><code>{escape(name)}</code><td>{kind}<td>{escape(text)}"
        for name, kind, text in rows
    )
    return f"<table><tr><th>{first}<th>type<th>meaning{cells}</table>"


def _describe_content(holder: dict[str, Any]) -> str:
    return ", ".join(
        f"{_describe_type(content['schema'])} ({escape(media_type)})"
        for media_type, content in holder.get("content", {}).items()
    )


def _describe_type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = escape(schema["$ref"].rsplit("/", 1)[-1])
        return f"<a href='#{name}'>{name}</a>"
    if "anyOf" in schema:
        return " or ".join(_describe_type(option) for option in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(f"<code>{escape(str(value))}</code>" for value in schema["enum"])
    if "const" in schema:
        return f"<code>{escape(str(schema['const']))}</code>"
    if schema.get("type") == "array":
        return f"list of {_describe_type(schema.get('items', {}))}"
    kind = escape(str(schema.get("format") or schema.get("type", "any")))
    bounds = [
        f"{word} {schema[key]}"
        for key, word in (("minimum", "from"), ("maximum", "to"))
        if key in schema
    ]
    return " ".join([kind, *bounds])
