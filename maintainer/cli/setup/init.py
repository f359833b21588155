"""`maintainer init`: write a configuration with one catalog, and a first policy in observe mode."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from pathlib import Path
from re import compile as compile_regex
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from maintainer.adapters.policies.reading import parse_policy
from maintainer.cli.output.console import say
from maintainer.cli.state import Config
from maintainer.domain.errors import ConfigurationError, InvalidValueError
from maintainer.domain.policy import PolicyLayer
from maintainer.domain.redaction import make_visible, names_secret, redact_url
from maintainer.settings import FILE_VARIABLE, load_settings
from maintainer.settings.catalogs import CATALOG_NAMES, is_catalog_name
from maintainer.settings.loading import DEFAULT_FILE

PING_SECONDS = 10.0
# A value that needs no quotes in YAML to be a text.
_PLAIN = compile_regex(r"[A-Za-z/][A-Za-z0-9_./-]*(?::[A-Za-z0-9_./-]+)*")
_VARIABLE = compile_regex(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_POLICY = """\
# For all tables of the catalog {name}. Files for some of the tables override this one.
# `maintainer plan` shows what would run. To let it run, write a file for a few tables with
# `mode: enforce`.
# All settings: docs/policies.md, or `maintainer policies schema`.
tables: "{name}.*"
mode: observe
rules:
  rewrite_data_files: {{when: {{average_file_size_below: 32MiB}}}}
  rewrite_manifests: {{when: {{manifest_count_above: 100}}}}
  expire_snapshots: {{when: {{snapshot_count_above: 100}}, max_age: 5d, keep: 10}}
"""


class CatalogType(StrEnum):
    """The catalog types that the command offers; other types can be written by hand."""

    REST = "rest"
    SQL = "sql"
    GLUE = "glue"
    HIVE = "hive"


_ADDRESSES = {  # how addresses begin, and an example
    CatalogType.REST: (("http://", "https://"), "https://catalog.example/"),
    CatalogType.SQL: (("sqlite:///", "postgresql", "mysql"), "sqlite:////var/lib/lake/catalog.db"),
    CatalogType.HIVE: (("thrift://",), "thrift://metastore.example:9083"),
}


@dataclass(slots=True)
class _Wanted:
    """The values for the new catalog that are known so far."""

    name: str | None
    type: CatalogType | None
    properties: dict[str, str] = field(default_factory=dict)


def init(  # noqa: PLR0913, PLR0917 - each is an option of the command
    catalog: Annotated[
        str | None,
        typer.Option(
            "--catalog",
            metavar="NAME",
            help="The catalog's name: the first level of its tables' names.",
        ),
    ] = None,
    catalog_type: Annotated[
        CatalogType | None, typer.Option("--type", help="The catalog's type.")
    ] = None,
    uri: Annotated[str | None, typer.Option("--uri", help="The catalog's address.")] = None,
    warehouse: Annotated[
        str | None, typer.Option("--warehouse", help="The warehouse's name or location.")
    ] = None,
    properties: Annotated[
        list[str] | None,
        typer.Option(
            "--property",
            metavar="KEY=VALUE",
            help="A property of PyIceberg; may be repeated. Secrets as KEY=${VARIABLE}.",
        ),
    ] = None,
    config: Config = None,
) -> None:
    """Write maintainer.yaml and a first policy; asks for everything that no option sets."""
    file = config or Path(os.environ.get(FILE_VARIABLE) or DEFAULT_FILE)
    policy_file = file.parent / "policies" / "default.yaml"
    if file.exists():
        raise ConfigurationError(
            f"{file} exists already, and is not overwritten; name another file with --config"
        )
    wanted = _Wanted(catalog, catalog_type, _read_properties(properties or []))
    wanted.properties |= {
        key: value for key, value in (("uri", uri), ("warehouse", warehouse)) if value is not None
    }
    if sys.stdin.isatty():
        _ask_rest(wanted)
    _refuse_gaps(wanted)
    text, policy = (
        write_configuration(wanted.name or "", wanted.type or CatalogType.REST, wanted.properties),
        _POLICY.format(name=wanted.name),
    )
    _check(text, policy)
    if policy_file.exists():
        typer.echo(f"kept {policy_file}, which existed already")
    else:
        _write_new(policy_file, policy)
        typer.echo(f"wrote {policy_file}")
    _write_new(file, text)
    typer.echo(f"wrote {file}")
    _try_catalog(file, wanted.properties)
    typer.echo(
        "next: `maintainer doctor` checks everything, `maintainer scan` measures the tables, "
        "`maintainer plan` shows what would run"
    )


def _read_properties(given: Sequence[str]) -> dict[str, str]:
    read: dict[str, str] = {}
    for text in given:
        key, separator, value = text.partition("=")
        if not key or not separator:
            raise InvalidValueError(f"--property {text!r} is not understood; write it as KEY=VALUE")
        read[key] = value
    return read


def _ask_rest(wanted: _Wanted) -> None:
    """Ask for the values that no option sets; a wrong answer is asked for again at once."""
    if wanted.name is None:
        wanted.name = _ask("Name of the catalog", _read_name, default="lake")
    if wanted.type is None:
        question = f"Type ({', '.join(CatalogType)})"
        wanted.type = CatalogType(_ask(question, _read_type, default=CatalogType.REST.value))
    if "uri" not in wanted.properties and wanted.type is not CatalogType.GLUE:
        wanted.properties["uri"] = _ask("Address (uri)", partial(_read_uri, wanted.type))
    if "warehouse" not in wanted.properties:
        answer = _ask("Warehouse (empty: none)", partial(_read_property, "warehouse"), default="")
        wanted.properties |= {"warehouse": answer} if answer else {}
    if wanted.type is CatalogType.REST and not {"token", "credential"} & wanted.properties.keys():
        answer = _ask(
            "Environment variable with the token (empty: none)", _read_name_of_variable, ""
        )
        wanted.properties |= {"token": f"${{{answer}}}"} if answer else {}


def _ask(question: str, read: Callable[[str], str], default: str | None = None) -> str:
    """Ask until `read` accepts the answer; the reason of each refusal is printed."""

    def accept(answer: str) -> str:
        try:
            return read(answer.strip())
        except InvalidValueError as error:
            raise typer.BadParameter(make_visible(str(error))) from error

    accepted: str = typer.prompt(
        question, default=default, show_default=bool(default), err=True, value_proc=accept
    )
    return accepted


def _read_name(answer: str) -> str:
    if not is_catalog_name(answer):
        raise InvalidValueError(f"{answer!r} is no name of a catalog; {CATALOG_NAMES}")
    return answer


def _read_type(answer: str) -> str:
    if answer not in set(CatalogType):
        raise InvalidValueError(
            f"{answer!r} is no type that this command offers; it is one of "
            f"{', '.join(CatalogType)} (the page docs/catalogs.md describes other catalogs)"
        )
    return answer


def _read_uri(catalog_type: CatalogType, answer: str) -> str:
    schemes, example = _ADDRESSES[catalog_type]
    if not answer.startswith(schemes) and _VARIABLE.search(answer) is None:
        raise InvalidValueError(
            f"{redact_url(answer)!r} is no address of a catalog of type {catalog_type.value}; "
            f"it begins with {' or '.join(schemes)}, as in {example}"
        )
    return _read_property("uri", answer)


def _read_property(key: str, answer: str) -> str:
    _refuse_secret(key, answer)
    return answer


def _read_name_of_variable(answer: str) -> str:
    # The answer is not repeated, because it may be the token itself.
    if answer and _VARIABLE.fullmatch(f"${{{answer}}}") is None:
        raise InvalidValueError(
            "the answer is no name of a variable; a name has letters, digits and _, such as "
            "CATALOG_TOKEN (the token itself must not be in the file)"
        )
    return answer


def _refuse_gaps(wanted: _Wanted) -> None:
    if wanted.name is None:
        raise InvalidValueError(
            "there is no terminal for questions; give --catalog and --uri, and other options of "
            "the catalog (`maintainer init --help`)"
        )
    if wanted.type is not CatalogType.GLUE and not wanted.properties.get("uri"):
        raise InvalidValueError(
            f"catalog {wanted.name} of type {(wanted.type or CatalogType.REST).value} needs an "
            f"address; give --uri"
        )
    for key, value in wanted.properties.items():
        _refuse_secret(key, value)


def _refuse_secret(key: str, value: str) -> None:
    is_secret = names_secret(key) or redact_url(value) != value
    if is_secret and _VARIABLE.search(value) is None:
        raise InvalidValueError(
            f"property {key} is a secret and must not be in the file; put it into an "
            f"environment variable, and give {key}=${{VARIABLE}}"
        )


def write_configuration(name: str, catalog_type: CatalogType, properties: Mapping[str, str]) -> str:
    """Return the text of maintainer.yaml."""
    lines = [
        "# Catalogs take PyIceberg's own properties; ${NAME} is an environment variable.",
        "catalogs:",
    ]
    lines += [f"  {_quote(name)}:", f"    type: {catalog_type.value}"]
    lines += [f"    {_quote(key)}: {_quote(value)}" for key, value in properties.items()]
    return "\n".join([*lines, "store: sqlite:///maintainer.db", "policies: ./policies", ""])


def _quote(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)


def _check(text: str, policy: str) -> None:
    """Read both texts as the daemon would, before the files are written.

    The environment variables in them need not be set.
    """
    environ = dict.fromkeys(_VARIABLE.findall(text), "x")
    with TemporaryDirectory() as place:
        trial = Path(place) / DEFAULT_FILE
        trial.write_text(text, encoding="utf-8")
        try:
            load_settings(trial, environ)
        except ConfigurationError as error:
            raise InvalidValueError(str(error).replace(f"{trial}:", "line ")) from error
    parsed = parse_policy(policy, "default.yaml")
    if not isinstance(parsed, PolicyLayer):
        raise InvalidValueError("\n".join(problem.message for problem in parsed))


def _write_new(file: Path, text: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as opened:
            opened.write(text)
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be written: {error.strerror or error}") from error


def _try_catalog(file: Path, properties: Mapping[str, str]) -> None:
    """Report whether the catalog answers. No answer is not an error: it may be started later."""
    missing = [
        name
        for value in properties.values()
        for name in _VARIABLE.findall(value)
        if name not in os.environ
    ]
    if missing:
        say(f"warning: set the environment variable {missing[0]} before the next command")
        return
    # The import of catalogs takes seconds.
    from maintainer.cli.setup.diagnose import ping_catalogs  # noqa: PLC0415

    for _, is_fine, sentence in ping_catalogs(load_settings(file, os.environ), PING_SECONDS):
        say(sentence if is_fine else f"warning: {sentence}")
