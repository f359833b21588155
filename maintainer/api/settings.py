"""The effective configuration, without secrets."""

from __future__ import annotations

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

    name: str = Field(description="Dotted, as the configuration file nests it.")
    value: str | None = Field(description="As a text, its secrets as ***; null: there is no value.")
    is_default: bool = Field(description="True when neither the file nor the environment sets it.")


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
        settings=[SettingOut.model_validate(each) for each in context.settings],
    )


class TriedTarget(Schema):
    """A target of notifications that was sent a test message."""

    name: str = Field(description="As `notifications.targets` has it.")
    is_received: bool = Field(
        description="False when the target has refused it; the log says more."
    )


class TriedTargets(Schema):
    """All targets of the process that answers; none without notifications."""

    items: list[TriedTarget]


@router.post(
    "/notifications/test",
    summary="Send a test message to each target",
    dependencies=[on_all(Role.ADMIN)],
)
def post_test_notice(context: ContextIn) -> TriedTargets:
    """Send one message to each target of notifications, without the limits on notices."""
    tried = context.try_targets()
    return TriedTargets(
        items=[TriedTarget(name=name, is_received=received) for name, received in tried.items()]
    )
