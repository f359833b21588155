"""The effective configuration, without secrets."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field

from maintainer import __version__
from maintainer.api.access import on_all
from maintainer.api.deps import ContextIn
from maintainer.api.health_schemas import Schema
from maintainer.domain.access import Role

router = APIRouter(tags=["settings"])


class SettingOut(Schema):
    """A setting as it works now."""

    name: Annotated[str, Field(description="Dotted, as the configuration file nests it.")]
    value: Annotated[
        str | None, Field(description="As a text, its secrets as ***; null: there is no value.")
    ]
    is_default: Annotated[
        bool, Field(description="True when neither the file nor the environment sets it.")
    ]


class SettingsOut(Schema):
    """The configuration of the process that answers."""

    version: str
    settings: list[SettingOut]


@router.get(
    "/settings",
    summary="The effective configuration, without secrets",
    dependencies=[on_all(Role.ADMIN)],
)
def get_settings(context: ContextIn) -> SettingsOut:
    """Each setting of the process that answers; other replicas may be configured differently."""
    return SettingsOut(
        version=__version__,
        settings=[
            SettingOut(name=each.name, value=each.value, is_default=each.is_default)
            for each in context.settings
        ],
    )
