"""Validates plain data with a pydantic model; every refusal is one sentence with its line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from difflib import get_close_matches
from re import compile as compile_regex
from re import escape, sub
from types import UnionType
from typing import Any, NoReturn, TypeVar, Union, get_args, get_origin

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ValidationError,
)
from pydantic_core import CoreSchema, ErrorDetails, PydanticCustomError
from pydantic_core.core_schema import no_info_before_validator_function

from maintainer.adapters.policies.document import Defect, Document, Path, write_path
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.units import parse_duration, parse_size

DURATION_SCHEMA: Mapping[str, object] = {
    "type": "string",
    "pattern": r"^\s*(\d+(\.\d+)?\s*(ms|s|m|h|d|w)\s*)+$",
    "examples": ["30m", "6h", "5d", "1h30m"],
}
SIZE_SCHEMA: Mapping[str, object] = {
    "anyOf": [
        {"type": "integer", "minimum": 0},
        {"type": "string", "pattern": r"^\s*\d+(\.\d+)?\s*([kKmMgGtTpP]?[iI]?[bB])?\s*$"},
    ],
    "examples": ["32MiB", "1.5GB", 1048576],
}

OFF = "off"
Model = TypeVar("Model", bound=BaseModel)

# The error type of this package's validators. Their message is a sentence about the value.
_REFUSED = "refused"
_WANTED = {
    "int_type": "be a whole number",
    "int_from_float": "be a whole number",
    "float_type": "be a number",
    "finite_number": "be a number",
    "bool_type": "be true or false",
    "string_type": "be a text",
    "string_too_short": "not be empty",
    "too_short": "have at least one",
    "list_type": "be a list",
    "model_type": "hold keys and values",
    "dict_type": "hold keys and values",
}
_OUTSIDE = {  # by pydantic's error type, with figures of the error's context
    "greater_than_equal": "is {value}, under the least value {ge:.15g}",
    "less_than_equal": "is {value}, over the greatest value {le:.15g}",
    "too_long": "has {actual_length} entries, over the limit of {max_length}",
    "string_too_long": "has over {max_length} characters",
}
MAXIMUM_DEFECTS = 100  # in one text; the search for the intended key is slow
MAXIMUM_MESSAGE_CHARACTERS = 2_000  # in one message; values with anchors may be very long
_HOMES = 2  # if a key is valid in more places, the intended place is unknown
_NEAREST = 0.6  # a key is suggested from this ratio of difflib on
_ALMOST_EQUAL = 0.85  # from this ratio on, it is preferred to the same key in another place


class Strict(BaseModel):
    """A mapping with known keys only, and without type conversion."""

    # Built at the first use, because the model of a whole text builds the models inside it again.
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


def validate(document: Document, model: type[Model]) -> Model | tuple[Defect, ...]:
    """Return the document as that model, or all its errors by line."""
    if document.is_broken:
        return tuple(document.defects)
    defects = list(document.defects)
    reported = {defect.path for defect in defects}
    validated: Model | None = None
    unlisted = 0
    try:
        validated = model.model_validate(document.value)
    except ValidationError as error:
        found = error.errors(include_url=False)
        errors = [(tuple(details["loc"]), details) for details in found[:MAXIMUM_DEFECTS]]
        unlisted = len(found) - len(errors)
        meant = {
            _find_meant(path, model)
            for path, details in errors
            if details["type"] == "extra_forbidden"
        }
        defects += [
            Defect(
                document.line(path),
                _hide(document, path, describe_error(details, path, model)),
                path,
            )
            for path, details in errors
            if path not in reported
            # The error about an unknown key already suggests the missing key.
            and not (details["type"] == "missing" and path in meant)
        ]
    if defects or validated is None:
        return _limit(sorted(defects, key=lambda defect: defect.line or 0), unlisted)
    return validated


def _limit(defects: Sequence[Defect], unlisted: int) -> tuple[Defect, ...]:
    listed = tuple(
        replace(defect, message=shorten(defect.message)) for defect in defects[:MAXIMUM_DEFECTS]
    )
    unlisted += len(defects) - len(listed)
    return (
        (*listed, Defect(None, f"{unlisted} more problems are not listed")) if unlisted else listed
    )


def shorten(message: str) -> str:
    """Shorten a long message in the middle, because its end names the bound."""
    half = MAXIMUM_MESSAGE_CHARACTERS // 2 - 3
    return (
        message
        if len(message) <= MAXIMUM_MESSAGE_CHARACTERS
        else f"{message[:half]} ... {message[-half:]}"
    )


def _hide(document: Document, path: Path, message: str) -> str:
    """Put a variable's name back in place of its value, which may be a secret."""
    expanded = document.expanded.get(path)
    return (
        sub(rf"(?<!\w){escape(expanded)}(?!\w)", lambda _: document.texts[path], message)
        if expanded
        else message
    )


def describe_error(details: ErrorDetails, path: Path, model: type[BaseModel]) -> str:
    """Describe one pydantic error in a sentence with the key, the value and the bound."""
    written, value, bounds = write_path(path), details["input"], details.get("ctx", {})
    match details["type"]:
        case "extra_forbidden":
            key = str(path[-1])
            if _find_meant(path, model) is not None:
                return suggest_key(key, _keys_at(model, path[:-1]))
            homes = list(_find_homes(model, key, ()))
            if 0 < len(homes) <= _HOMES:
                return (
                    f"unknown key {key!r}; it belongs under "
                    f"{' or '.join(write_path(home) or 'the top of the file' for home in homes)}"
                )
            return suggest_key(key, _keys_at(model, path[:-1]))
        case "missing":
            return f"{written} is missing"
        case kind if kind in _OUTSIDE:
            return f"{written} {_OUTSIDE[kind].format(value=value, **bounds)}"
        case "literal_error" | "enum":
            return (
                f"{written} is {_write(value)}, but must be "
                f"{bounds['expected'].replace(chr(39), '')}"
            )
        case kind if kind in _WANTED:
            return f"{written} is {_write(value)}, but must {_WANTED[kind]}"
        case _:
            return f"{written} {details['msg']}".lstrip()


def _find_meant(path: Path, model: type[BaseModel]) -> Path | None:
    """Find the valid key that an unknown key surely means, such as ``catalogs`` for ``catalog``."""
    near = get_close_matches(str(path[-1]), _keys_at(model, path[:-1]), n=1, cutoff=_ALMOST_EQUAL)
    return (*path[:-1], near[0]) if near else None


def _write(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case dict():
            return "a mapping"
        case list() | tuple():
            return "a list" if value else "empty"
        case _:
            return repr(value)


def suggest_key(key: str, valid: Iterable[str]) -> str:
    """Suggest the nearest valid key for an unknown one, or list all valid keys."""
    known = sorted(valid)
    nearest = get_close_matches(key, known, n=1, cutoff=_NEAREST)
    if nearest:
        return f"unknown key {key!r}, did you mean {nearest[0]!r}?"
    return (
        f"unknown key {key!r}; valid here: {', '.join(known)}"
        if known
        else f"unknown key {key!r}; no key is valid here"
    )


def _keys_at(model: type[BaseModel], path: Sequence[str | int]) -> list[str]:
    parts = iter(path)
    for part in parts:
        field = next(
            (field for name, field in model.model_fields.items() if (field.alias or name) == part),
            None,
        )
        inner = inner_model(field.annotation) if field else None
        if field is not None and get_origin(field.annotation) is dict:
            inner = inner_model(get_args(field.annotation)[1])
            next(parts, None)  # skip the name that the operator has chosen
        if inner is None:
            return []
        model = inner
    return [field.alias or name for name, field in model.model_fields.items()]


def _find_homes(model: type[BaseModel], key: str, at: Path) -> Iterator[Path]:
    """Yield the other paths of the model at which this key is valid."""
    for name, field in model.model_fields.items():
        written = field.alias or name
        if written == key:
            yield at
        inner = inner_model(field.annotation)
        if inner is not None:
            yield from _find_homes(inner, key, (*at, written))


# An annotation may be any type form.
def inner_model(annotation: Any) -> type[BaseModel] | None:  # noqa: ANN401
    """Return the model in an annotation, alone or with None."""
    candidates = (
        get_args(annotation) if get_origin(annotation) in {Union, UnionType} else (annotation,)
    )
    return next(
        (
            candidate
            for candidate in candidates
            if isinstance(candidate, type) and issubclass(candidate, BaseModel)
        ),
        None,
    )


def refuse(reason: str) -> NoReturn:
    """Refuse the value.

    The message gets the key's path in front: ``keep`` + ``is 1, under ...``.
    """
    raise PydanticCustomError(_REFUSED, "{reason}", {"reason": reason})


def matching(pattern: str, meaning: str) -> BeforeValidator:
    """Refuse a text that the whole pattern does not match: `is 'x', but must be {meaning}`."""
    regex = compile_regex(pattern)

    def check(value: object) -> object:
        if isinstance(value, str) and regex.fullmatch(value) is None:
            refuse(f"is {value[:200]!r}, but must be {meaning}")
        return value

    return BeforeValidator(check)


@dataclass(frozen=True, slots=True)
class DurationBetween:
    """Reads ``6h`` as a timedelta within the bounds, which use the same format."""

    least: str
    greatest: str = "36500d"
    bound: str = "least value"

    def read(self, value: object) -> object:
        """Return the timedelta; a refusal names the bound."""
        try:
            span = parse_duration(value)
        except InvalidValueError as error:
            refuse(f"is not a duration: {error}")
        if span < parse_duration(self.least):
            refuse(f"is {value}, under the {self.bound} {self.least}")
        if span > parse_duration(self.greatest):
            refuse(f"is {value}, over the greatest value {self.greatest}")
        return span

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return no_info_before_validator_function(self.read, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, object]:
        return dict(DURATION_SCHEMA)


@dataclass(frozen=True, slots=True)
class OffOrBetween(DurationBetween):
    """Reads ``off`` as zero, and everything that a DurationBetween reads."""

    def read(self, value: object) -> object:
        """Return the timedelta, zero for off; a refusal names the bound."""
        return timedelta(0) if value == OFF else DurationBetween.read(self, value)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, object]:
        return {"anyOf": [{"const": OFF}, dict(DURATION_SCHEMA)]}


@dataclass(frozen=True, slots=True)
class SizeBetween:
    """Reads ``32MiB`` as bytes within the bounds, which use the same format."""

    least: str
    greatest: str

    def read(self, value: object) -> object:
        """Return the bytes; a refusal names the bound."""
        try:
            size = parse_size(value)
        except InvalidValueError as error:
            refuse(f"is not a size: {error}")
        if size < parse_size(self.least):
            refuse(f"is {value}, under the least value {self.least}")
        if size > parse_size(self.greatest):
            refuse(f"is {value}, over the greatest value {self.greatest}")
        return size

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return no_info_before_validator_function(self.read, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, object]:
        return dict(SIZE_SCHEMA)
