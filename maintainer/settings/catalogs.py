"""Which catalogs are watched, and how they are reached."""

from __future__ import annotations

from re import compile as compile_regex

from pydantic import Field, model_validator

from maintainer.adapters.policies.validation import Strict, refuse

_CATALOG_NAME = compile_regex(r"[A-Za-z][A-Za-z0-9_-]{0,99}")


def check_catalogs(value: object) -> object:
    """At least one, and names that can stand in a table's name and in a variable."""
    for name in value if isinstance(value, dict) else ():
        if _CATALOG_NAME.fullmatch(name) is None:
            refuse(
                f"has a catalog {name!r}; a name is 1 to 100 letters, digits, - and _, a letter "
                f"first"
            )
    if value == {}:
        refuse("is empty; name at least one catalog")
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
        return {
            "properties": {name: text for name, text in value.items() if name != "spark"},
            "spark": value.get("spark", {}),
        }
