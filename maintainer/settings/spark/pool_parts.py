"""Parts of the settings of a pool: memory, executors, job sizes, jars, and Spark's page."""

from __future__ import annotations

from pathlib import Path
from re import compile as compile_regex
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, Field, model_validator

from maintainer.adapters.policies.validation import Strict, refuse
from maintainer.adapters.spark.pins import Jar
from maintainer.domain.driver import UI_PLACEHOLDERS
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.redaction import redact_url
from maintainer.domain.units import MIB, parse_size

_ADDRESS = compile_regex(r"https?://[^/?#@\s\x00-\x1f\"<>]+(?:[/?#][^\s\x00-\x1f\"<>]*)?")
_PLACEHOLDER = compile_regex(r"\{([^{}]*)\}")
_MAX_CHARACTERS = 1000
_LEAST_MEMORY = "512MiB"
_GREATEST_MEMORY = "1TiB"
_MEMORY_OF_SPARK = compile_regex(r"\d+[kmgtKMGT]")


def _check_template(value: object) -> object:
    if not isinstance(value, str) or not value:
        return value
    shown = redact_url(value)[:200]
    if len(value) > _MAX_CHARACTERS:
        refuse(f"has {len(value):,} characters, but may have at most {_MAX_CHARACTERS:,}")
    known = ", ".join(f"{{{name}}}" for name in UI_PLACEHOLDERS)
    unknown = [name for name in _PLACEHOLDER.findall(value) if name not in UI_PLACEHOLDERS]
    if unknown:
        refuse(f"has the placeholder {{{unknown[0][:50]}}}, but may have only {known}")
    if any(brace in _PLACEHOLDER.sub("", value) for brace in "{}"):
        refuse(f"is {shown!r}, but braces may only enclose one of {known}")
    if _ADDRESS.fullmatch(value) is None:
        refuse(
            f"is {shown!r}, but must be an address with http:// or https:// and without a user, "
            f"such as https://history.example/history/{{application_id}}"
        )
    return value


UiUrl: TypeAlias = Annotated[
    str,
    BeforeValidator(_check_template),
    Field(
        description="The address of Spark's page for an application, such as that of a history "
        "server, for links on the page of a job. Placeholders: `{application_id}`, `{driver}`, "
        "`{host}` and `{pod}`. Default: no links.",
        examples=["https://history.example/history/{application_id}"],
    ),
]


def _check_jars(value: object) -> object:
    for text in value if isinstance(value, list) else ():
        if Jar.parse(str(text)) is None and not (
            str(text).endswith(".jar") and Path(str(text)).is_absolute()
        ):
            refuse(
                f"has {text!r}; a jar is the absolute path of a .jar file, or "
                f"GROUP:ARTIFACT:VERSION@SHA256 with 64 lower-case hexadecimal digits"
            )
    return value


JarTexts: TypeAlias = Annotated[
    list[str],
    BeforeValidator(_check_jars),
    Field(
        description="More jars for drivers on this machine and on YARN: paths, or coordinates with "
        "their SHA-256, which `maintainer jars fetch` fetches.",
        examples=["[/opt/jars/catalog.jar]"],
    ),
]


def read_memory(value: object) -> object:
    """Accept Spark's format, such as ``2g``, or a size as elsewhere in the file."""
    text = f"{value}iB" if isinstance(value, str) and _MEMORY_OF_SPARK.fullmatch(value) else value
    try:
        size = parse_size(text)
    except InvalidValueError:
        refuse(f"is {value!r}, but must be a size such as 2g or 2GiB")
    if not parse_size(_LEAST_MEMORY) <= size <= parse_size(_GREATEST_MEMORY):
        refuse(f"is {value}, but must be from {_LEAST_MEMORY} to {_GREATEST_MEMORY}")
    return f"{size // MIB}m"


class ExecutorsSettings(Strict):
    """The executors of a driver on a standalone cluster."""

    count: int = Field(default=1, ge=1, le=1000, description="Executors of one driver.")
    memory: Annotated[str, BeforeValidator(read_memory)] = Field(
        default="2048m", description="Memory of one executor, 512MiB to 1TiB.", examples=["4g"]
    )
    cores: int = Field(
        default=1, ge=1, le=64, description="Tasks that one executor runs at the same time."
    )


class ContainerSettings(Strict):
    """What a cluster gives to the drivers and executors of a pool beside their heap."""

    driver_cores: int = Field(
        default=2, ge=1, le=64, description="Cores of a driver's pod or container."
    )
    driver_overhead: float = Field(
        default=0.25,
        ge=0.0,
        le=4.0,
        description="Memory beyond the driver's heap, as a share of the heap.",
    )
    executor_overhead: float = Field(
        default=0.1,
        ge=0.0,
        le=4.0,
        description="Memory beyond an executor's heap, as a share of the heap.",
    )


class AllocationSettings(Strict):
    """How many executors a driver may have where Spark adds and removes them."""

    min_executors: int = Field(
        default=0, ge=0, le=1000, description="The fewest executors of a running driver."
    )
    max_executors: int = Field(ge=1, le=1000, description="The most executors of a driver.")

    @model_validator(mode="after")
    def _check_order(self) -> AllocationSettings:
        if self.min_executors > self.max_executors:
            refuse(
                f"has min_executors {self.min_executors}, above max_executors {self.max_executors}"
            )
        return self


class ProfileSettings(Strict):
    """The driver that jobs of one size run in."""

    driver_memory: Annotated[str, BeforeValidator(read_memory)] | None = Field(
        default=None,
        description="Memory of the driver. Default: `spark.driver_memory`.",
        examples=["2g"],
    )
    max_jobs: Annotated[int, Field(ge=1, le=64)] | None = Field(
        default=None,
        description="Jobs that share the driver. Default: half of `spark.max_jobs` (medium), 1 "
        "(large).",
    )
    executors: ExecutorsSettings | None = Field(
        default=None, description="Executors on a standalone cluster. Default: `spark.executors`."
    )


class ProfilesSettings(Strict):
    """The drivers of medium and large jobs; `spark` itself describes the driver of small jobs."""

    medium: ProfileSettings = Field(default_factory=ProfileSettings)
    large: ProfileSettings = Field(default_factory=ProfileSettings)
