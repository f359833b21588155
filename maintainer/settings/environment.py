"""Settings from environment variables: every scalar has one, MAINTAINER_SECTION__KEY."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from re import compile as compile_regex

from maintainer.adapters.policies.document import Document, resolve_scalar
from maintainer.adapters.policies.document import Path as KeyPath
from maintainer.adapters.policies.validation import inner_model
from maintainer.settings.model import Settings

FILE_VARIABLE = "MAINTAINER_CONFIG"
_PREFIX = "MAINTAINER_"
_SKIPPED = "MAINTAINER_SKIP_"  # switches of the test suite
# Kubernetes adds MAINTAINER_PORT and similar names for a service of that name, so only names that
# are similar to names of settings are errors.
_LIKE_A_KEY = 0.85
_PLAIN = compile_regex(r"[^A-Za-z0-9]")


def apply_environment(
    document: Document, environ: Mapping[str, str]
) -> tuple[list[str], dict[KeyPath, str]]:
    """Override the document with MAINTAINER_SECTION__KEY.

    Returns the problems, and the variable of each path that came from one.
    """
    known = _list_variables(document)
    problems: list[str] = []
    applied: dict[KeyPath, str] = {}
    for variable in sorted(
        name
        for name in environ
        if name.startswith(_PREFIX) and name != FILE_VARIABLE and not name.startswith(_SKIPPED)
    ):
        path = known.get(variable)
        if path is not None:
            _set(document, path, variable, environ[variable])
            applied[path] = variable
        elif "__" in variable or get_close_matches(
            variable, [name for name in known if "__" not in name], n=1, cutoff=_LIKE_A_KEY
        ):
            problems.append(f"{variable}: {_suggest(variable, known)}")
    return problems, applied


def _suggest(variable: str, known: Mapping[str, KeyPath]) -> str:
    near = get_close_matches(
        variable.removeprefix(_PREFIX), [name.removeprefix(_PREFIX) for name in known], n=1
    )
    return (
        f"unknown variable, did you mean {_PREFIX}{near[0]}?"
        if near
        else "unknown variable; it names no setting"
    )


def _list_variables(document: Document) -> dict[str, KeyPath]:
    """List every scalar of the model and every property in the file.

    Property names contain dots, so a variable alone does not show them.
    """
    paths: list[KeyPath] = []
    for name, field in Settings.model_fields.items():
        inner = inner_model(field.annotation)
        if inner is not None:
            nested = {"conf", "catalogs", "pools"}
            paths += [(name, key) for key in inner.model_fields if key not in nested]
        elif name not in {"catalogs", "auth"}:
            paths.append((name,))
    paths += [
        path for path in document.texts if path[0] == "catalogs" or path[:2] == ("spark", "conf")
    ]
    return {
        _PREFIX + "__".join(_PLAIN.sub("_", str(part)).upper() for part in path): path
        for path in paths
    }


def _set(document: Document, path: KeyPath, variable: str, text: str) -> None:
    mapping = document.value
    for part in path[:-1]:
        inner = mapping.setdefault(str(part), {})
        if not isinstance(inner, dict):
            return  # this is an error in the file, which is reported elsewhere
        mapping = inner
    value = resolve_scalar(text)
    mapping[str(path[-1])] = text if value is None else value
    document.defects[:] = [defect for defect in document.defects if defect.path != path]
    document.texts[path] = text
    document.expanded.pop(path, None)
    if path[0] in {"catalogs", "store"} or "conf" in path:
        # The document has the variable's name, so that no message shows its value.
        document.texts[path], document.expanded[path] = f"${{{variable}}}", text
