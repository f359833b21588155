"""A statement whose text is the result of a query."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from maintainer.adapters.spark.driver.results import EXECUTE, execute_result


class Session:
    """Knows one query, and what it returns."""

    def sql(self, text: str) -> Any:
        answer = ("SELECT 2",) if text == "SELECT 'SELECT 2'" else (text,)
        return SimpleNamespace(first=lambda: answer, text=text)


def test_the_query_that_a_query_returns_is_run() -> None:
    assert execute_result(Session(), f"{EXECUTE}SELECT 'SELECT 2'").text == "SELECT 2"
