"""The runbooks of docs/alerts.md as text, which alerts carry with them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import yaml

_PAGE: Final = Path(__file__).parents[2] / "docs/alerts.md"
_HEADING: Final = re.compile(r"^## (Maintainer\w+)\n", re.MULTILINE)
_LINK: Final = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def write_runbooks() -> str:
    """Return the YAML text of each alert's runbook, by the alert's name.

    Links are left out, because they are relative to the page.
    """
    _, *parts = _HEADING.split(_PAGE.read_text(encoding="utf-8"))
    texts = dict(zip(parts[::2], parts[1::2], strict=True))
    runbooks = {name: _LINK.sub(r"\1", text).strip() + "\n" for name, text in texts.items()}
    return yaml.safe_dump(runbooks, default_style="|", sort_keys=False, allow_unicode=True)
