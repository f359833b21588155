"""The OpenAPI document: what applies to all its operations, and /docs, its plain HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.responses import HTMLResponse

from maintainer.api.access import Need, Of
from maintainer.api.deps import COOKIE
from maintainer.api.errors import declare_problems
from maintainer.api.guard import SAFE_METHODS

_SCHEME = "token"
_SESSION = "session"
_ALWAYS = (
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.REQUEST_URI_TOO_LONG,
    HTTPStatus.MISDIRECTED_REQUEST,
    HTTPStatus.UNPROCESSABLE_ENTITY,
)
_OF_CHANGES = (
    HTTPStatus.FORBIDDEN,  # for pages of other sites, also if no role is needed
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
)
_OF_NAMES = {Of.TABLE: (HTTPStatus.NOT_FOUND,), Of.JOB: (HTTPStatus.NOT_FOUND,)}
_OF_BODIES = (HTTPStatus.BAD_REQUEST,)
_STYLE = (
    ":root{color-scheme:light dark}body{font:16px/1.5 "
    "system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem}"
    "code{font-family:ui-monospace,monospace}summary{cursor:pointer;padding:.3rem 0}summary "
    "code{font-weight:600}"
    "table{border-collapse:collapse;margin:.5rem 0 1rem}td,th{border:1px solid "
    "#8886;padding:.2rem .6rem;text-align:left;vertical-align:top}"
)


def complete_document(document: dict[str, Any], prefix: str, needs: Mapping[str, Need]) -> None:
    """Add to each operation the guard's refusals and its role, and credentials under the prefix."""
    document["components"]["securitySchemes"] = {
        _SCHEME: {
            "type": "http",
            "scheme": "bearer",
            "description": "A token of `auth.tokens`, or of the OpenID provider; needed where any "
            "sign-in is configured.",
        },
        _SESSION: {
            "type": "apiKey",
            "in": "cookie",
            "name": COOKIE,
            "description": "A session of the page. A change also needs the header `Origin`.",
        },
    }
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            need = needs[operation["operationId"]]
            operation["x-role"] = None if need.role is None else {"role": need.role, "on": need.of}
            is_change = method.upper() not in SAFE_METHODS
            statuses = (
                *_ALWAYS,
                *(() if need.role is None else (HTTPStatus.FORBIDDEN,)),
                *_OF_NAMES.get(need.of, ()),
                *(_OF_CHANGES if is_change else ()),
                *(_OF_BODIES if "requestBody" in operation else ()),
            )
            for status, response in declare_problems(*statuses).items():
                operation["responses"].setdefault(str(status), response)
            if path.startswith(prefix):
                operation["security"] = [{}, {_SCHEME: []}, {_SESSION: []}]


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
