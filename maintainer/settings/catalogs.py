"""Settings of the watched catalogs and their connections."""

from __future__ import annotations

from re import compile as compile_regex
from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator

from maintainer.adapters.policies.validation import Strict, refuse

_DIRECTORY = compile_regex(r"[A-Za-z][A-Za-z0-9+.-]*://\S*/")
_CATALOG_NAME = compile_regex(r"[A-Za-z][A-Za-z0-9_-]{0,99}")


def check_catalogs(value: object) -> object:
    """Accept at least one catalog, with names that fit into a table's name and a variable."""
    for name in value if isinstance(value, dict) else ():
        if _CATALOG_NAME.fullmatch(name) is None:
            refuse(
                f"has a catalog {name!r}; a name is 1 to 100 letters, digits, - and _, a letter "
                f"first"
            )
    if value == {}:
        refuse("is empty; name at least one catalog")
    return value


def _check_locations(value: object) -> object:
    """Accept pairs of directories; no target may itself be renamed."""
    pairs = value if isinstance(value, dict) else {}
    for text in (*pairs, *pairs.values()):
        if _DIRECTORY.fullmatch(str(text)) is None:
            refuse(f"has {text!r}; a location is SCHEME://.../ with a slash at its end")
    for target in pairs.values():
        source = next((source for source in pairs if str(target).startswith(source)), None)
        if source is not None:
            refuse(f"has the target {target}, which lies in {source}, another name")
    return value


class CatalogSettings(Strict):
    """PyIceberg's own properties, unchanged, and additions for Spark that they do not imply."""

    properties: dict[str, str] = Field(repr=False)
    spark: dict[str, str] = Field(
        default_factory=dict,
        repr=False,
        description="What only Spark needs, under Spark's own names of properties.",
    )
    locations: Annotated[dict[str, str], BeforeValidator(_check_locations)] = Field(
        default_factory=dict,
        description="Directories that Spark and this process reach by different names: Spark's, "
        "and the one to read.",
    )

    @model_validator(mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        if not isinstance(value, dict):
            return value
        return {
            "properties": {
                name: text for name, text in value.items() if name not in {"spark", "locations"}
            },
            "spark": value.get("spark", {}),
            "locations": value.get("locations", {}),
        }
