"""The shape of the rules in a policy file, made from the fields of the rules' types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from inspect import getdoc
from typing import Annotated, Any, Literal, assert_never

from pydantic import BeforeValidator, Field, WithJsonSchema, create_model, model_validator

from maintainer.adapters.policies.document import resolve_scalar
from maintainer.adapters.policies.texts import check_filter, check_text
from maintainer.adapters.policies.validation import (
    SIZE_SCHEMA,
    DurationBetween,
    OffOrBetween,
    SizeBetween,
    Strict,
    refuse,
)
from maintainer.domain.action import Procedure
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.metric import Unit
from maintainer.domain.option import PROCEDURE_OPTIONS, OptionBound, OptionKind, check_option
from maintainer.domain.policy import Rule
from maintainer.domain.rule_field import (
    LARGEST_COUNT,
    Choice,
    Condition,
    Count,
    Duration,
    Flag,
    Kind,
    Member,
    Names,
    Size,
    Text,
    fields_of,
)
from maintainer.domain.rules import MAXIMUM_TEXT_CHARACTERS, RULES
from maintainer.domain.units import parse_size

Annotation = Any  # a type form, as create_model needs

# The type of a threshold's bound in a file, and its limits as text.
THRESHOLD_BOUNDS: Mapping[Unit, tuple[Annotation, str]] = {
    Unit.BYTES: (Annotated[int, SizeBetween("1B", "10GiB")], "1B to 10GiB"),
    Unit.SECONDS: (Annotated[timedelta, DurationBetween("1s")], "at least 1s"),
    Unit.COUNT: (Annotated[int, Field(ge=0, le=LARGEST_COUNT)], "at least 0"),
    Unit.SHARE: (Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)], "0 to 1"),
    Unit.RATIO: (Annotated[float, Field(ge=0, allow_inf_nan=False)], "at least 0"),
}


def rules_model(rules: Mapping[str, type[Rule]]) -> type[Strict]:
    """Make the model of the rules in a policy file."""
    models: dict[str, Any] = {
        str(name): (rule_model(rule) | None, None) for name, rule in rules.items()
    }
    text = "The rules for these tables; wider policies decide a rule that is missing here."
    return create_model("RulesModel", __base__=Strict, __doc__=text, **models)


def rule_model(rule: type[Rule]) -> type[Strict]:
    """Make the model of one rule: its thresholds, its fields and its procedure's options."""
    # Problems on the same line are listed in the order of these keys.
    keys: dict[str, Any] = {field.key: None for field in fields_of(Rule)}
    if rule.metrics:
        keys["when"] = (_when_model(rule) | None, None)
    keys |= {
        field.key: (_value_type(field.kind) | None, Field(None, description=field.describe()))
        for field in fields_of(rule)
    }
    procedure = Procedure(rule.name)
    if PROCEDURE_OPTIONS[procedure]:
        keys["options"] = (_options_model(procedure, _stem(rule)) | None, None)
    check: Any = model_validator(mode="after")(_check_conflicts(rule))
    return create_model(
        rule.__name__,
        __base__=Strict,
        __doc__=getdoc(rule),
        __validators__={"check_conflicts": check},
        **keys,
    )


def _stem(rule: type[Rule]) -> str:
    return rule.__name__.removesuffix("Rule")


def _check_conflicts(rule: type[Rule]) -> Callable[[Strict], Strict]:
    def check(model: Strict) -> Strict:
        reason = rule.find_conflict({key: getattr(model, key) for key in model.model_fields_set})
        if reason is not None:
            refuse(reason)
        return model

    return check


def _when_model(rule: type[Rule]) -> type[Strict]:
    text = f"Thresholds of {rule.name}; all given thresholds must be met."
    keys: dict[str, Any] = {
        metric.key: (
            THRESHOLD_BOUNDS[metric.unit][0] | None,
            Field(None, description=metric.meaning),
        )
        for metric in rule.metrics
    }
    return create_model(f"{_stem(rule)}When", __base__=Strict, __doc__=text, **keys)


def _value_type(kind: Kind) -> Annotation:
    match kind:
        case Flag():
            return bool
        case Duration():
            between = OffOrBetween if kind.has_off else DurationBetween
            bound = "floor" if kind.is_floor else "least value"
            return Annotated[timedelta, between(kind.least, kind.greatest, bound)]
        case Size():
            return Annotated[int, SizeBetween(kind.least, kind.greatest)]
        case Count():
            schema = {"type": "integer", "minimum": kind.floor, "maximum": LARGEST_COUNT}
            return Annotated[
                int,
                Field(le=LARGEST_COUNT),
                BeforeValidator(_read_count(kind.floor)),
                WithJsonSchema(schema),
            ]
        case Choice():
            return Literal[kind.choices]
        case Member():
            return Annotated[kind.type, Field(strict=False)]
        case Text():
            return Annotated[str, BeforeValidator(_read_text(kind.characters))]
        case Condition():
            return Annotated[str, BeforeValidator(check_filter)]
        case Names():
            name = Annotated[str, BeforeValidator(_read_text(MAXIMUM_TEXT_CHARACTERS))]
            return Annotated[
                tuple[name, ...],
                BeforeValidator(_read_names),
                Field(min_length=1, max_length=kind.most),
            ]
        case _:
            assert_never(kind)


def _read_count(floor: int) -> Callable[[object], object]:
    def read(value: object) -> object:
        if isinstance(value, int) and not isinstance(value, bool) and value < floor:
            refuse(f"is {value}, under the floor {floor}")
        return value

    return read


def _read_text(characters: int) -> Callable[[object], object]:
    return lambda value: check_text(value, characters)


def _read_names(value: object) -> object:
    return (
        tuple(value) if isinstance(value, list) else (value,) if isinstance(value, str) else value
    )


def _read_option(procedure: Procedure, name: str) -> Callable[[object], object]:
    bound = PROCEDURE_OPTIONS[procedure][name]

    def read(value: object) -> object:
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if isinstance(value, dict | list):
            refuse("must be a single value")
        if bound.kind is OptionKind.BYTES:
            try:
                text = str(parse_size(value))
            except InvalidValueError as error:
                refuse(f"is not a size: {error}")
        reason = check_option(name, text, procedure)
        if reason is not None:
            refuse(reason.removeprefix(f"option {name} "))
        return text

    return read


def _option_schema(bound: OptionBound) -> dict[str, object]:
    match bound.kind:
        case OptionKind.BYTES:
            return dict(SIZE_SCHEMA)
        case OptionKind.COUNT:
            return {"type": "integer", "minimum": bound.minimum, "maximum": bound.maximum}
        case OptionKind.RATIO:
            return {"type": "number", "minimum": bound.minimum, "maximum": bound.maximum}
        case OptionKind.BOOLEAN:
            return {"enum": [resolve_scalar(choice) for choice in bound.choices]}
        case OptionKind.CHOICE:
            return {"enum": list(bound.choices)}


def _option_field(procedure: Procedure, name: str) -> tuple[Annotation, Any]:
    bound = PROCEDURE_OPTIONS[procedure][name]
    limits = (
        " or ".join(bound.choices)
        if bound.choices
        else f"{bound.minimum:.15g} to {bound.maximum:.15g}"
    )
    annotation = Annotated[
        str | None,
        BeforeValidator(_read_option(procedure, name)),
        WithJsonSchema(_option_schema(bound)),
    ]
    return (
        annotation,
        Field(
            None, alias=name, description=f"Iceberg's option of that name: {limits} ({bound.kind})."
        ),
    )


def _options_model(procedure: Procedure, stem: str) -> type[Strict]:
    text = (
        f"Options of Iceberg's {procedure}, in Iceberg's own names; sizes may be written like "
        f"32MiB."
    )
    options: dict[str, Any] = {
        option.replace("-", "_").replace(".", "__"): _option_field(procedure, option)
        for option in PROCEDURE_OPTIONS[procedure]
    }
    return create_model(f"{stem}Options", __base__=Strict, __doc__=text, **options)


RulesModel = rules_model(RULES)
