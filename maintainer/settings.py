"""The configuration file, the environment, and their bounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from difflib import get_close_matches
from os.path import normpath
from pathlib import Path
from re import compile as compile_regex
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from maintainer.adapters.policies.document import Defect, Document, read_document, resolve_scalar, write_path
from maintainer.adapters.policies.document import Path as KeyPath
from maintainer.adapters.policies.validation import DurationBetween, Strict, inner_model, refuse, validate
from maintainer.domain.errors import ConfigurationError, InvalidValueError
from maintainer.domain.redaction import HIDDEN, names_secret, redact_url
from maintainer.domain.units import MIB, parse_size
from maintainer.policy.effective import write_value

DEFAULT_FILE = "maintainer.yaml"
FILE_VARIABLE = "MAINTAINER_CONFIG"
_PREFIX = "MAINTAINER_"
_SKIPPED = "MAINTAINER_SKIP_"  # switches of the test suite
_LIKE_A_KEY = 0.85  # kubernetes adds MAINTAINER_PORT and the like for a service of that name: only near misses of our own names are errors
_LEAST_MEMORY = "512MiB"
_GREATEST_MEMORY = "1TiB"

_REFERENCE = compile_regex(r"\$(\$?)\{([A-Za-z_][A-Za-z0-9_]*)\}")
_CATALOG_NAME = compile_regex(r"[A-Za-z][A-Za-z0-9_-]{0,99}")
_MASTER = compile_regex(r"local(\[(\*|[1-9][0-9]{0,2})\])?")
_MEMORY_OF_SPARK = compile_regex(r"\d+[kmgtKMGT]")
_PLAIN = compile_regex(r"[^A-Za-z0-9]")
_SCHEME = compile_regex(r"[A-Za-z][A-Za-z0-9+.-]*:")
_SQLITE = compile_regex(r"(sqlite(?:\+[a-z]+)?:///)([^?]*)(.*)")


def _read_path(value: object) -> object:
    return Path(value).expanduser() if isinstance(value, str) else value


def _read_memory(value: object) -> object:
    """Spark's own words: ``2g`` as people write it there, or a size as elsewhere in the file."""
    text = f"{value}iB" if isinstance(value, str) and _MEMORY_OF_SPARK.fullmatch(value) else value
    try:
        size = parse_size(text)
    except InvalidValueError:
        refuse(f"is {value!r}, but must be a size such as 2g or 2GiB")
    if not parse_size(_LEAST_MEMORY) <= size <= parse_size(_GREATEST_MEMORY):
        refuse(f"is {value}, but must be from {_LEAST_MEMORY} to {_GREATEST_MEMORY}")
    return f"{size // MIB}m"


def _check_store(value: object) -> object:
    if isinstance(value, str) and not value.startswith(("sqlite:///", "postgresql://", "postgresql+")):
        refuse(f"is {redact_url(value)!r}, but must begin with sqlite:/// or postgresql://")
    return value


def _check_master(value: object) -> object:
    if isinstance(value, str) and _MASTER.fullmatch(value) is None:
        refuse(f"is {value!r}, but the runner local takes local, local[N] or local[*]")
    return value


def _check_runner(value: object) -> object:
    if value in {"submit", "connect", "operator"}:
        refuse(f"is {value}, which is not supported in this version; write local")
    return value


def _check_auth(value: object) -> object:
    if value != {}:
        refuse("is not supported in this version; leave it out")
    return value


def _check_catalogs(value: object) -> object:
    for name in value if isinstance(value, dict) else ():
        if _CATALOG_NAME.fullmatch(name) is None:
            refuse(f"has a catalog {name!r}; a name is 1 to 100 letters, digits, - and _, a letter first")
    if value == {}:
        refuse("is empty; name at least one catalog")
    return value


def _check_conf(value: object) -> object:
    for name, text in value.items() if isinstance(value, dict) else ():
        if not name.startswith("spark."):
            refuse(f"has {name!r}; Spark reads only names that begin with spark.")
        if any(character in str(text) for character in "\n\r\0"):
            refuse(f"has a line break in {name}")
    return value


class CatalogSettings(Strict):
    """PyIceberg's own properties, unchanged, and what cannot be translated from them for Spark."""

    properties: dict[str, str] = Field(repr=False)
    spark: dict[str, str] = Field(default_factory=dict, repr=False)

    @model_validator(mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        if not isinstance(value, dict):
            return value
        return {"properties": {name: text for name, text in value.items() if name != "spark"}, "spark": value.get("spark", {})}


class ScanSettings(Strict):
    """How often, and how many manifests side by side, the catalogs are measured.

    An unchanged table is measured anew after `remeasure`, the `rechecks` longest unmeasured ones of a catalog at every scan. Where asking whether one
    changed costs a request (all but SQL catalogs), it is asked after min_interval to max_interval, by how long it rests, within requests_per_second.
    """

    interval: Annotated[timedelta, DurationBetween("1s")] = timedelta(minutes=5)
    workers: Annotated[int, Field(ge=1, le=64)] = 2
    timeout: Annotated[timedelta, DurationBetween("1s")] = timedelta(minutes=10)
    remeasure: Annotated[timedelta, DurationBetween("1m")] = timedelta(hours=6)
    rechecks: Annotated[int, Field(ge=0, le=1_000_000)] = 100
    min_interval: Annotated[timedelta, DurationBetween("1s")] = timedelta(minutes=1)
    max_interval: Annotated[timedelta, DurationBetween("1s")] = timedelta(hours=1)
    requests_per_second: Annotated[float, Field(ge=0.1, le=10_000)] = 200.0
    max_requests: Annotated[int, Field(ge=1, le=512)] = 64

    @model_validator(mode="after")
    def _check_intervals(self) -> ScanSettings:
        if self.min_interval > self.max_interval:
            refuse(f"has min_interval {write_value('', self.min_interval)} above max_interval {write_value('', self.max_interval)}")
        return self


class PlanSettings(Strict):
    """How often plans are made from what was measured."""

    interval: Annotated[timedelta, DurationBetween("100ms")] = timedelta(seconds=30)


class SubmitSettings(Strict):
    """How often waiting plans are admitted as jobs."""

    interval: Annotated[timedelta, DurationBetween("100ms")] = timedelta(seconds=5)


class WatchSettings(Strict):
    """How often running jobs are looked at."""

    interval: Annotated[timedelta, DurationBetween("100ms")] = timedelta(seconds=2)


class ReviewSettings(Strict):
    """How often finished jobs are compared, before and after."""

    interval: Annotated[timedelta, DurationBetween("100ms")] = timedelta(seconds=5)


class PruneSettings(Strict):
    """How long the store keeps what it holds: every sample for raw_samples, then one an hour for hourly_samples, then one a day for samples."""

    interval: Annotated[timedelta, DurationBetween("1s")] = timedelta(hours=1)
    raw_samples: Annotated[timedelta, DurationBetween("1h")] = timedelta(days=7)
    hourly_samples: Annotated[timedelta, DurationBetween("1h")] = timedelta(days=90)
    samples: Annotated[timedelta, DurationBetween("1h")] = timedelta(days=730)
    jobs: Annotated[timedelta, DurationBetween("1h")] = timedelta(days=365)


class SparkSettings(Strict):
    """Where and with what the jobs run; ``run_dir`` is beside the store when it is not given."""

    runner: Annotated[Literal["local"], BeforeValidator(_check_runner)] = "local"
    master: Annotated[str, BeforeValidator(_check_master)] = "local[2]"
    driver_memory: Annotated[str, BeforeValidator(_read_memory)] = "2048m"
    max_jobs: Annotated[int, Field(ge=1, le=64)] = 2
    idle_timeout: Annotated[timedelta, DurationBetween("1s")] = timedelta(minutes=10)
    start_timeout: Annotated[timedelta, DurationBetween("1s", "1h")] = timedelta(seconds=120)
    java_home: Annotated[Path, BeforeValidator(_read_path)] | None = None
    jars_dir: Annotated[Path, BeforeValidator(_read_path)] | None = None
    run_dir: Annotated[Path, BeforeValidator(_read_path)] | None = None
    conf: Annotated[dict[str, str], BeforeValidator(_check_conf)] = Field(default_factory=dict, repr=False)


class ServerSettings(Strict):
    """Where the API and the page are served; port 0 is any free one."""

    host: Annotated[str, Field(min_length=1, max_length=255)] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8080


class ImpactSettings(Strict):
    """What the estimate of small files' cost assumes; without a profile each table's location decides."""

    profile: Literal["object_store", "hdfs", "ozone"] | None = None
    request_price_per_million: Annotated[float, Field(ge=0, le=1_000_000)] | None = None
    round_trip: Annotated[timedelta, DurationBetween("0s", "1m")] = timedelta(milliseconds=1)


class Settings(Strict):
    """Everything that an operator can set; paths are absolute."""

    catalogs: Annotated[dict[str, CatalogSettings], BeforeValidator(_check_catalogs)]
    store: Annotated[str, BeforeValidator(_check_store)] = "sqlite:///maintainer.db"
    policies: Annotated[Path, BeforeValidator(_read_path)] = Path("policies")
    scan: ScanSettings = ScanSettings()
    plan: PlanSettings = PlanSettings()
    submit: SubmitSettings = SubmitSettings()
    watch: WatchSettings = WatchSettings()
    review: ReviewSettings = ReviewSettings()
    prune: PruneSettings = PruneSettings()
    spark: SparkSettings = SparkSettings()
    server: ServerSettings = ServerSettings()
    impact: ImpactSettings = ImpactSettings()
    drain_timeout: Annotated[timedelta, DurationBetween("0s", "1d")] = timedelta(seconds=60)
    auth: Annotated[dict[str, str], BeforeValidator(_check_auth)] = Field(default_factory=dict)

    def redacted(self) -> dict[str, object]:
        """The settings as plain values for printing, every secret as ***."""
        values = self.model_dump()
        for name, catalog in self.catalogs.items():
            values["catalogs"][name] = {**catalog.properties, **({"spark": catalog.spark} if catalog.spark else {})}
        return {name: _redact(name, value) for name, value in values.items()}

    def __repr__(self) -> str:
        return f"Settings({self.redacted()!r})"

    __str__ = __repr__


def _redact(name: str, value: object) -> object:
    match value:
        case dict():
            return {key: _redact(str(key), inner) for key, inner in value.items()}
        case str() if names_secret(name):
            return HIDDEN
        case str() | Path():
            return redact_url(str(value))
        case timedelta():
            return write_value(name, value)
        case _:
            return value


def load_settings(path: Path | None, environ: Mapping[str, str]) -> Settings:
    """The settings of the file (else of MAINTAINER_CONFIG, else ./maintainer.yaml) under those of the environment; ConfigurationError with all problems."""
    file = path or Path(environ.get(FILE_VARIABLE) or DEFAULT_FILE)
    document = read_document(_read_text(file), _expand_from(environ))
    problems, variables = _apply_environment(document, environ) if not document.is_broken else ([], {})
    _keep_texts(document)
    settings = validate(document, Settings)
    if isinstance(settings, tuple):
        problems += [_cite(defect, file, variables) for defect in settings]
    if problems or isinstance(settings, tuple):
        raise ConfigurationError("\n".join(problems))
    return _resolve_paths(settings, file.absolute().parent)


def _read_text(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except FileNotFoundError as error:
        message = (
            f"there is no configuration file {file}; write one that begins with `catalogs: {{lake: {{type: rest, uri: ...}}}}`, "
            f"name another with --config or {FILE_VARIABLE}, or try `maintainer demo`"
        )
        raise ConfigurationError(message) from error
    except UnicodeDecodeError as error:
        message = f"{file} is not UTF-8 text: byte 0x{error.object[error.start]:02x} at position {error.start}"
        raise ConfigurationError(message) from error
    except OSError as error:
        message = f"{file} cannot be read: {error.strerror or error}"
        raise ConfigurationError(message) from error


def _expand_from(environ: Mapping[str, str]) -> Callable[[str], str]:
    """Replaces ``${NAME}`` by the variable; ``$${NAME}`` is the text ``${NAME}``."""

    def expand(text: str) -> str:
        missing = [match[2] for match in _REFERENCE.finditer(text) if not match[1] and match[2] not in environ]
        if missing:
            message = f"the environment has no variable {missing[0]}"
            raise InvalidValueError(message)
        return _REFERENCE.sub(lambda match: match[0][1:] if match[1] else environ[match[2]], text)

    return expand


def _cite(defect: Defect, file: Path, variables: Mapping[KeyPath, str]) -> str:
    place = variables.get(defect.path) or (f"{file}" if defect.line is None else f"{file}:{defect.line}")
    return f"{place}: {defect.message}"


def _apply_environment(document: Document, environ: Mapping[str, str]) -> tuple[list[str], dict[KeyPath, str]]:
    """Lay MAINTAINER_SECTION__KEY over the document; returns what is wrong, and the variable of each path that came from one."""
    known = _list_variables(document)
    problems: list[str] = []
    applied: dict[KeyPath, str] = {}
    for variable in sorted(name for name in environ if name.startswith(_PREFIX) and name != FILE_VARIABLE and not name.startswith(_SKIPPED)):
        path = known.get(variable)
        if path is not None:
            _set(document, path, variable, environ[variable])
            applied[path] = variable
        elif "__" in variable or get_close_matches(variable, [name for name in known if "__" not in name], n=1, cutoff=_LIKE_A_KEY):
            problems.append(f"{variable}: {_suggest(variable, known)}")
    return problems, applied


def _suggest(variable: str, known: Mapping[str, KeyPath]) -> str:
    near = get_close_matches(variable.removeprefix(_PREFIX), [name.removeprefix(_PREFIX) for name in known], n=1)
    return f"unknown variable, did you mean {_PREFIX}{near[0]}?" if near else "unknown variable; it names no setting"


def _list_variables(document: Document) -> dict[str, KeyPath]:
    """Every scalar of the model, and the properties that the file has: names with dots cannot be guessed from a variable."""
    paths: list[KeyPath] = []
    for name, field in Settings.model_fields.items():
        inner = inner_model(field.annotation)
        if inner is not None:
            paths += [(name, key) for key in inner.model_fields if key != "conf"]
        elif name not in {"catalogs", "auth"}:
            paths.append((name,))
    paths += [path for path in document.texts if path[0] == "catalogs" or path[:2] == ("spark", "conf")]
    return {_PREFIX + "__".join(_PLAIN.sub("_", str(part)).upper() for part in path): path for path in paths}


def _set(document: Document, path: KeyPath, variable: str, text: str) -> None:
    mapping = document.value
    for part in path[:-1]:
        inner = mapping.setdefault(str(part), {})
        if not isinstance(inner, dict):
            return  # the file's own mistake, which is reported as such
        mapping = inner
    value = resolve_scalar(text)
    mapping[str(path[-1])] = text if value is None else value
    document.defects[:] = [defect for defect in document.defects if defect.path != path]
    document.texts[path] = text
    document.expanded.pop(path, None)
    if path[0] in {"catalogs", "store"} or "conf" in path:
        document.texts[path], document.expanded[path] = f"${{{variable}}}", text  # so that no message shows it


def _keep_texts(document: Document) -> None:
    """Properties of PyIceberg and Spark are texts: 1.10 must not become 1.1, nor true True."""
    for path in document.texts:
        if path[0] == "catalogs" or path[:2] == ("spark", "conf"):
            mapping: object = document.value
            for part in path[:-1]:
                mapping = mapping.get(part) if isinstance(mapping, dict) else None
            if isinstance(mapping, dict) and path[-1] in mapping:
                mapping[path[-1]] = document.expanded.get(path, document.texts[path])
    _refuse_nested_properties(document)


def _refuse_nested_properties(document: Document) -> None:
    catalogs = document.value.get("catalogs")
    for name, properties in catalogs.items() if isinstance(catalogs, dict) else ():
        for key, value in list(properties.items()) if isinstance(properties, dict) else ():
            if key != "spark" and isinstance(value, dict | list):
                path: KeyPath = ("catalogs", name, key)
                del properties[key]  # or the model would say it again, in its own words
                message = f"{write_path(path)} holds several values; write each property by its whole name, like s3.endpoint"
                document.defects.append(Defect(document.line(path), message, path))


def _resolve_paths(settings: Settings, base: Path) -> Settings:
    store = _resolve_sqlite(settings.store, base)
    match = _SQLITE.fullmatch(store)
    beside = Path(match[2]).parent if match else base
    spark = settings.spark
    places = {name: _join(base, value) for name, value in (("java_home", spark.java_home), ("jars_dir", spark.jars_dir)) if value is not None}
    places["run_dir"] = _join(base, spark.run_dir) if spark.run_dir is not None else beside / "run"
    catalogs = {name: catalog.model_copy(update={"properties": _resolve_properties(catalog.properties, base)}) for name, catalog in settings.catalogs.items()}
    update = {"store": store, "policies": _join(base, settings.policies), "spark": spark.model_copy(update=places), "catalogs": catalogs}
    return settings.model_copy(update=update)


def _join(base: Path, path: Path | str) -> Path:
    """Without ``..``: a warehouse's path is compared as text with the locations of its tables."""
    return Path(normpath(base / path))


def _resolve_sqlite(url: str, base: Path) -> str:
    match = _SQLITE.fullmatch(url)
    if match is None or match[2] in {"", ":memory:"} or match[2].startswith("file:"):
        return url
    return f"{match[1]}{_join(base, match[2])}{match[3]}"


def _resolve_properties(properties: Mapping[str, str], base: Path) -> dict[str, str]:
    """Only a SQL catalog's: elsewhere a warehouse without a scheme is a name."""
    resolved = dict(properties)
    uri = properties.get("uri", "")
    if uri:
        resolved["uri"] = _resolve_sqlite(uri, base)
    is_sql = properties.get("type", "").lower() == "sql" or ("type" not in properties and uri.startswith(("sqlite", "postgresql")))
    warehouse = properties.get("warehouse", "")
    if is_sql and warehouse and _SCHEME.match(warehouse) is None:
        resolved["warehouse"] = f"file://{_join(base, warehouse)}"
    return resolved
