"""Writes docs/roles.md from the routes: python -m docs.generator.roles."""

from __future__ import annotations

import sys

from maintainer.api.application import openapi_document

_INTRODUCTION = """\
# Roles of the routes

<!-- Generated from maintainer/api by `make generate`. Do not edit. -->

Each route needs a role as soon as [any sign-in is configured](sign-in.md). A role includes those
before it: viewer, operator, approver, admin. Where it is needed on *any table*, the answer has
only the tables that the person may see. A table or a job that a person may not see does not exist
for them: 404.

| request | role | on | what it does |
|---|---|---|---|
"""


def write_reference() -> str:
    """Return the whole page."""
    rows = []
    for path, operations in sorted(openapi_document()["paths"].items()):
        for method, operation in operations.items():
            need = operation["x-role"] or {"role": "none", "on": ""}
            request = f"`{method.upper()} {path}`"
            rows.append(f"| {request} | {need['role']} | {need['on']} | {operation['summary']} |\n")
    return _INTRODUCTION + "".join(rows)


if __name__ == "__main__":
    sys.stdout.write(write_reference())
