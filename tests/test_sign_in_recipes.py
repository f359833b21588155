"""docs/sign-in.md: every configuration in it is valid."""

from __future__ import annotations

from pathlib import Path
from re import DOTALL, findall

import pytest

from maintainer.settings import load_settings

_PAGE = (Path(__file__).parents[1] / "docs" / "sign-in.md").read_text(encoding="utf-8")
_RECIPES: list[str] = findall(r"```yaml\n(# maintainer.yaml\n.*?)```", _PAGE, DOTALL)


@pytest.mark.parametrize("recipe", _RECIPES, ids=range(len(_RECIPES)))
def test_a_recipe_can_be_loaded(recipe: str, tmp_path: Path) -> None:
    file = tmp_path / "maintainer.yaml"
    file.write_text("catalogs: {lake: {type: sql, uri: 'sqlite:///lake.db'}}\n" + recipe)
    environ = {name: f"{name}-0123456789-0123456789" for name in findall(r"\$\{(\w+)\}", recipe)}
    auth = load_settings(file, environ).auth
    assert auth != type(auth)()


def test_there_are_recipes() -> None:
    assert _RECIPES
