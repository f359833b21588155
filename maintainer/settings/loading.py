"""Loads the configuration file and applies the environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from re import compile as compile_regex
from typing import TypeVar

from pydantic import BaseModel

from maintainer.adapters.policies.document import (
    Defect,
    Document,
    read_document,
    resolve_scalar,
    write_path,
)
from maintainer.adapters.policies.document import Path as KeyPath
from maintainer.adapters.policies.validation import inner_model, validate
from maintainer.domain.errors import ConfigurationError, InvalidValueError
from maintainer.settings.catalogs import BESIDE_PROPERTIES
from maintainer.settings.model import Settings
from maintainer.settings.paths import (
    find_sqlite_directory,
    join,
    resolve_properties,
    resolve_sqlite,
)

FILE_VARIABLE = "MAINTAINER_CONFIG"
_PREFIX = "MAINTAINER_"
_SKIPPED = "MAINTAINER_SKIP_"  # switches of the test suite
# Kubernetes adds MAINTAINER_PORT and similar names for a service of that name, so only names that
# are similar to names of settings are errors.
_LIKE_A_KEY = 0.85
_PLAIN = compile_regex(r"[^A-Za-z0-9]")
DEFAULT_FILE = "maintainer.yaml"
STATE_VARIABLE = "STATE_DIRECTORY"  # systemd's name for it, which the container image also sets
MAXIMUM_BYTES = 1024**2
_REFERENCE = compile_regex(r"\$(\$?)\{([A-Za-z_][A-Za-z0-9_]*)\}")

POOLS_DIRECTORY = "pools"  # in spark.run_dir

Section = TypeVar("Section", bound=BaseModel)


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


def load_settings(path: Path | None, environ: Mapping[str, str]) -> Settings:
    """Load the file (else MAINTAINER_CONFIG, else ./maintainer.yaml) and apply the environment.

    ConfigurationError lists all problems.
    """
    file = path or Path(environ.get(FILE_VARIABLE) or DEFAULT_FILE)
    document = read_document(_read_text(file), _expand_from(environ), MAXIMUM_BYTES)
    problems, variables = (
        apply_environment(document, environ) if not document.is_broken else ([], {})
    )
    _keep_texts(document)
    settings = validate(document, Settings)
    if isinstance(settings, tuple):
        problems += [_cite(defect, file, variables) for defect in settings]
    if problems or isinstance(settings, tuple):
        raise ConfigurationError("\n".join(problems))
    base = file.absolute().parent
    if "store" not in settings.model_fields_set and environ.get(STATE_VARIABLE):
        state = Path(environ[STATE_VARIABLE])
        settings = settings.model_copy(update={"store": resolve_sqlite(settings.store, state)})
    return _resolve_paths(settings, base)


def _read_text(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except FileNotFoundError as error:
        raise ConfigurationError(
            f"there is no configuration file {file}; `maintainer init` writes one, --config or "
            f"{FILE_VARIABLE} names another, and `maintainer demo` needs none"
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(
            f"{file} is not UTF-8 text: byte 0x{error.object[error.start]:02x} at position "
            f"{error.start}"
        ) from error
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be read: {error.strerror or error}") from error


def _expand_from(environ: Mapping[str, str]) -> Callable[[str], str]:
    """Replaces ``${NAME}`` by the variable; ``$${NAME}`` is the text ``${NAME}``."""

    def expand(text: str) -> str:
        missing = [
            match[2]
            for match in _REFERENCE.finditer(text)
            if not match[1] and match[2] not in environ
        ]
        if missing:
            raise InvalidValueError(f"the environment has no variable {missing[0]}")
        return _REFERENCE.sub(lambda match: match[0][1:] if match[1] else environ[match[2]], text)

    return expand


def _cite(defect: Defect, file: Path, variables: Mapping[KeyPath, str]) -> str:
    place = variables.get(defect.path) or (
        f"{file}" if defect.line is None else f"{file}:{defect.line}"
    )
    return f"{place}: {defect.message}"


def _keep_texts(document: Document) -> None:
    """Keep properties of PyIceberg and Spark as texts: 1.10 must not become 1.1, nor true True."""
    for path in document.texts:
        is_property = path[0] == "catalogs" and path[2:3] != ("storage",)
        if is_property or _is_conf(path):
            mapping: object = document.value
            for part in path[:-1]:
                mapping = mapping.get(part) if isinstance(mapping, dict) else None
            if isinstance(mapping, dict) and path[-1] in mapping:
                mapping[path[-1]] = document.expanded.get(path, document.texts[path])
    _refuse_nested_properties(document)


def _is_conf(path: KeyPath) -> bool:
    is_of_pool = path[:2] == ("spark", "pools") and path[3:4] == ("conf",)
    return path[:2] == ("spark", "conf") or is_of_pool


def _refuse_nested_properties(document: Document) -> None:
    catalogs = document.value.get("catalogs")
    for name, properties in catalogs.items() if isinstance(catalogs, dict) else ():
        for key, value in list(properties.items()) if isinstance(properties, dict) else ():
            if key not in BESIDE_PROPERTIES and isinstance(value, dict | list):
                path: KeyPath = ("catalogs", name, key)
                del properties[key]  # otherwise the model would report the same error again
                message = (
                    f"{write_path(path)} holds several values; write each property by its whole "
                    f"name, like s3.endpoint"
                )
                document.defects.append(Defect(document.line(path), message, path))


def _resolve_paths(settings: Settings, base: Path) -> Settings:
    store = resolve_sqlite(settings.store, base)
    beside = find_sqlite_directory(store) or base
    run_dir = join(base, settings.spark.run_dir) if settings.spark.run_dir else beside / "run"
    pools = {
        name: _resolve_pool(pool, base, run_dir / POOLS_DIRECTORY / name)
        for name, pool in settings.spark.pools.items()
    }
    spark = _resolve_pool(settings.spark, base, run_dir).model_copy(update={"pools": pools})
    catalogs = {
        name: catalog.model_copy(
            update={"properties": resolve_properties(catalog.properties, base)}
        )
        for name, catalog in settings.catalogs.items()
    }
    resources = settings.kubernetes_policies
    update = {
        "kubernetes_policies": _resolve_section(resources, base) if resources else None,
        "store": store,
        "policies": join(base, settings.policies),
        "spark": spark,
        "catalogs": catalogs,
    }
    return settings.model_copy(update=update)


def _resolve_pool(pool: Section, base: Path, run_dir: Path) -> Section:
    inner = {
        name: _resolve_section(value, base) for name, value in pool if isinstance(value, BaseModel)
    }
    return _resolve_section(pool, base).model_copy(update={**inner, "run_dir": run_dir})


def _resolve_section(section: Section, base: Path) -> Section:
    paths = {name: join(base, value) for name, value in section if isinstance(value, Path)}
    return section.model_copy(update=paths)
