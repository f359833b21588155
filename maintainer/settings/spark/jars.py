"""Jars of the operator's own, beside the pinned ones."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, Field

from maintainer.adapters.policies.validation import refuse
from maintainer.adapters.spark.pins import Jar


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
