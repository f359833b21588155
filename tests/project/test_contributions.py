"""What a service of Git repositories reads: workflow, templates, and the hooks of a clone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.project.repository import ROOT, find_targets, list_files, read_text


def read_hooks() -> dict[str, dict[str, Any]]:
    [repository] = yaml.safe_load(read_text(".pre-commit-config.yaml"))["repos"]
    assert repository["repo"] == "local", "nothing is downloaded"
    return {hook["id"]: hook for hook in repository["hooks"]}


def test_the_workflow_is_the_ci_script() -> None:
    [job] = yaml.safe_load(read_text(".github/workflows/ci.yml"))["jobs"].values()
    assert job["steps"][-1] == {"run": ".ci/run"}
    used = [step["uses"] for step in job["steps"] if "uses" in step]
    assert used
    assert all(re.search(r"@[0-9a-f]{40}$", action) for action in used), used


def test_the_programs_of_the_hooks_are_those_of_the_checks() -> None:
    makefile = read_text("Makefile")
    for hook in read_hooks().values():
        program, *words = hook["entry"].split()
        if program == "make":
            assert set(words) <= find_targets(makefile), hook
        elif hook["language"] == "system":
            assert f"$(BIN)/{Path(program).name}" in makefile, hook
            assert all((ROOT / word).exists() for word in words if word.startswith("tests/"))


@pytest.mark.parametrize(
    ("message", "is_fine"),
    [
        ("docs, helm: Say what was tried.\n\nWhy.\n", True),
        ("helm: say what was tried.\n", False),
        ("Say what was tried.\n", False),
        ("helm: Say what was tried\n\nhelm: Say what was tried.\n", False),
    ],
)
def test_the_subject_of_a_commit_has_its_form(message: str, *, is_fine: bool) -> None:
    hook = read_hooks()["subject"]
    assert hook["args"] == ["--negate", "--multiline"]
    found = re.search(hook["entry"], message, re.MULTILINE | re.DOTALL)
    assert (found is not None) is is_fine


def test_each_form_for_issues_asks_for_something() -> None:
    forms = [path for path in list_files() if path.match(".github/ISSUE_TEMPLATE/*.yml")]
    asked = {
        path.stem: [
            part["id"] for part in yaml.safe_load(read_text(path)).get("body", ()) if "id" in part
        ]
        for path in forms
    }
    assert asked.pop("config") == []
    assert set(asked) == {"bug", "feature"}
    assert all(asked.values())
