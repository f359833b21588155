"""Settings of the watched catalogs and their connections."""

from __future__ import annotations

from re import compile as compile_regex

from pydantic import Field, model_validator

from maintainer.adapters.policies.validation import Strict, refuse

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


class CatalogSettings(Strict):
    """PyIceberg's own properties, unchanged, and additions for Spark that they do not imply."""

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
