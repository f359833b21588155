"""Settings of admission: budgets, reserved shares and blackouts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator

from maintainer.adapters.policies.model import (
    MAXIMUM_WINDOWS,
    BudgetModel,
    WindowModel,
    read_windows,
)
from maintainer.adapters.policies.validation import DurationBetween, refuse
from maintainer.domain.admission import AdmissionRules, Scorer, SlotOwner
from maintainer.domain.pool import Pool

FLEET = "the fleet"


class AdmissionSettings(BudgetModel):
    """Which planned actions may start: their order, budgets and blackouts."""

    scorer: Scorer = Field(
        default=Scorer.MAINTAINER,
        strict=False,
        description="How the score of planned actions is computed.",
    )
    per_catalog: dict[str, BudgetModel] = Field(
        default_factory=dict, description="The same three limits for one catalog."
    )
    urgent_share: float = Field(
        default=0.1,
        ge=0,
        le=0.9,
        description="The share of each budget that is kept for tables in the critical band.",
    )
    explore_share: float = Field(
        default=0.05,
        ge=0,
        le=0.9,
        description="The share of each daily budget that is kept for tables whose cost is unknown.",
    )
    slot_owner: SlotOwner = Field(
        default=SlotOwner.NAMESPACE,
        strict=False,
        description="Whose jobs share the slots of a pool fairly: an owner that has its share gets "
        "further slots only after the others. `none` gives all slots to the best scores.",
    )
    owner_share: float = Field(
        default=1.0,
        gt=0,
        le=1,
        description="The greatest share of a pool's slots that the jobs of one owner take, at "
        "least one slot. Below 1, the rest stays free for owners that come later.",
    )
    sla: Annotated[timedelta, DurationBetween("1m", "365d")] = Field(
        default=timedelta(hours=24),
        description="The waiting time after which a table's score begins to grow faster: tenfold "
        "in each further such time.",
    )
    blackouts: Annotated[tuple[WindowModel, ...], BeforeValidator(read_windows)] = Field(
        default=(),
        max_length=MAXIMUM_WINDOWS,
        description="Windows in which nothing starts on any table.",
    )

    @model_validator(mode="after")
    def _check_shares(self) -> AdmissionSettings:
        if self.urgent_share + self.explore_share >= 1:
            refuse(
                f"has urgent_share {self.urgent_share:g} and explore_share "
                f"{self.explore_share:g}, which leave nothing for other tables"
            )
        return self

    def as_rules(self, pools: Mapping[str, Pool]) -> AdmissionRules:
        """Return the rules in admission's form, for these pools by name."""
        return AdmissionRules(
            scorer=self.scorer,
            fleet=self.as_budget(FLEET),
            per_catalog={
                name: budget.as_budget(f"catalog {name}")
                for name, budget in self.per_catalog.items()
            },
            urgent_share=self.urgent_share,
            explore_share=self.explore_share,
            slot_owner=self.slot_owner,
            owner_share=self.owner_share,
            sla=self.sla,
            blackouts=tuple(window.as_window() for window in self.blackouts),
            pools=pools,
        )
