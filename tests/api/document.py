"""The OpenAPI document as it is committed; test_openapi.py shows that it is the present one. To
generate it takes half a second, to read it none.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

COMMITTED = Path(__file__).parents[2] / "docs" / "openapi.json"
DOCUMENT: dict[str, Any] = json.loads(COMMITTED.read_text(encoding="utf-8"))
OPERATIONS: list[tuple[str, str, dict[str, Any]]] = [
    (path, method, operation)
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
]
IDS = [operation["operationId"] for _, _, operation in OPERATIONS]
