"""Settings of what jobs of one size get: memory, executors, and how many share a driver."""

from __future__ import annotations

from re import compile as compile_regex
from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator

from maintainer.adapters.policies.validation import Strict, refuse
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.units import MIB, parse_size

_LEAST_MEMORY = "512MiB"
_GREATEST_MEMORY = "1TiB"
_MEMORY_OF_SPARK = compile_regex(r"\d+[kmgtKMGT]")


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
