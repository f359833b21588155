"""What the driver says of its own accord must not bear the names of the envelope that its channel
puts around it.
"""

from __future__ import annotations

import ast
import inspect

from maintainer.adapters.spark.driver import job, program
from maintainer.adapters.spark.driver.lists import files, rows
from maintainer.adapters.spark.tracking import _ENVELOPE

NAMED_BY_THE_CALLER = {"event", "job"}


def test_nothing_that_the_driver_says_is_taken_for_the_number_of_its_message() -> None:
    calls = [
        node
        for module in (program, job, files, rows)
        for node in ast.walk(ast.parse(inspect.getsource(module)))
        if isinstance(node, ast.Call)
    ]
    said = {
        keyword.arg
        for call in calls
        if isinstance(call.func, ast.Attribute) and call.func.attr == "send"
        for keyword in call.keywords
    }
    assert {"statement", "portion", "first"} <= said
    assert said & (_ENVELOPE - NAMED_BY_THE_CALLER) == set()
