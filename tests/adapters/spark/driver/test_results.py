"""A statement whose text is the result of a query, and causes that break a JVM."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from maintainer.adapters.spark.driver.results import (
    EXECUTE,
    execute_result,
    has_broken_class,
    has_old_token,
    split_cause,
)


class Session:
    """Knows one query, and what it returns."""

    def sql(self, text: str) -> Any:
        answer = ("SELECT 2",) if text == "SELECT 'SELECT 2'" else (text,)
        return SimpleNamespace(first=lambda: answer, text=text)


def test_the_query_that_a_query_returns_is_run() -> None:
    assert execute_result(Session(), f"{EXECUTE}SELECT 'SELECT 2'").text == "SELECT 2"


@pytest.mark.parametrize(
    ("name", "message", "is_broken"),
    [
        ("java.lang.ExceptionInInitializerError", "Cannot unpack libzstd-jni: disk full", True),
        (
            "org.apache.spark.SparkException",
            "Job aborted: java.lang.NoClassDefFoundError: Could not initialize class a.b.Zstd",
            True,
        ),
        ("java.lang.NoClassDefFoundError", "software/amazon/awssdk/core/SdkClient", False),
    ],
)
def test_a_class_that_java_initializes_no_more_breaks_the_jvm(
    name: str, message: str, is_broken: bool
) -> None:
    causes = [{"class": "java.lang.RuntimeException", "message": ""}]
    assert not has_broken_class(causes)
    assert has_broken_class([*causes, {"class": name, "message": message}]) is is_broken


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        (
            "java.lang.OutOfMemoryError: Java heap space",
            "java.lang.OutOfMemoryError",
            "Java heap space",
        ),
        ("ExecutorLostFailure (executor 2 exited)", "ExecutorLostFailure", "(executor 2 exited)"),
        ("a.b.IoError: no file\n\tat a.b.C\nCaused by: d.E: denied", "a.b.IoError", "no file"),
        ("", "", ""),
    ],
)
def test_a_text_of_spark_is_split_into_class_and_message(
    text: str, name: str, message: str
) -> None:
    assert split_cause(text) == {"class": name, "message": message}


def test_a_refused_token_is_recognised_by_its_exception() -> None:
    refused = {"class": "org.apache.iceberg.exceptions.NotAuthorizedException", "message": "no"}
    forbidden = {"class": "org.apache.iceberg.exceptions.ForbiddenException", "message": "no"}
    assert has_old_token([forbidden, refused])
    assert not has_old_token([forbidden])
    assert not has_old_token([])
