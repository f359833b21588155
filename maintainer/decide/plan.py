"""The decision for a table: each rule of the policy once, planned or skipped.

A skipped rule has a code, a sentence and the next check.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from math import inf

from maintainer.decide.circumstances import Circumstances
from maintainer.decide.jobs.size import choose_size, spread_groups
from maintainer.decide.spark_fitness import find_fault, find_unfit
from maintainer.decide.targets import target_of_policy
from maintainer.decide.thresholds import assess
from maintainer.decide.unchecked import refuse_unchecked
from maintainer.decide.waiting.postponement import (
    KEEPS_WAITING,
    end_of_patience,
    find_unrest,
    find_waiting_since,
    has_waited_out,
    hold_back,
    refuse_shared,
)
from maintainer.domain.admission import AdmissionRules
from maintainer.domain.health import Band, Finding, TableHealth
from maintainer.domain.plan import Plan, PlannedAction, RuleHistory, SkipCode, SkippedRule
from maintainer.domain.policy import Charge, Mode, Others, Policy, Rule, RuleName
from maintainer.domain.pool import SizeProfile
from maintainer.domain.rules import (
    RULES,
    RewriteDataFilesRule,
    RewriteRule,
)
from maintainer.domain.units import format_size
from maintainer.estimate.cost import find_worth, predict
from maintainer.estimate.floors import Refusal, refuse
from maintainer.estimate.score import standing_score
from maintainer.policy.ambiguity import explain_ambiguities
from maintainer.policy.restriction import ENABLED_PROPERTY
from maintainer.procedures.procedure import Situation
from maintainer.procedures.registry import CHAPTERS

_ORDER = tuple(CHAPTERS)
JOB_SHARE = 0.25  # of a daily budget; a larger job would fit only if hardly anything else started


def decide(health: TableHealth, policy: Policy, circumstances: Circumstances) -> Plan:
    """The plan for one table: deterministic, each rule exactly once, in execution order."""
    rules = sorted(policy.rules, key=lambda rule: _ORDER.index(rule.name))
    verdicts = [_decide_rule(rule, health, policy, circumstances) for rule in rules]
    return Plan(
        table=health.table,
        table_uuid=health.table_uuid,
        snapshot_id=health.snapshot_id,
        metadata_location=health.metadata_location,
        policy_version=policy.version,
        mode=policy.mode,
        priority=policy.priority,
        made_at=circumstances.now,
        planned=tuple(verdict for verdict in verdicts if isinstance(verdict, PlannedAction)),
        skipped=tuple(verdict for verdict in verdicts if isinstance(verdict, SkippedRule)),
        budget=policy.budget,
        is_urgent=circumstances.band is Band.CRITICAL,
        pool=policy.runs_on,
    )


def _decide_rule(
    rule: Rule, health: TableHealth, policy: Policy, circumstances: Circumstances
) -> PlannedAction | SkippedRule:
    """The verdict for one rule.

    The checks are, in order: is it needed, is it allowed, would it help, may it start now.
    """
    barred = _find_bar(rule, health, policy, circumstances)
    if barred is not None:
        return barred
    refusal = _find_refusal(rule, health, policy, circumstances)
    if refusal is not None and refusal.code is SkipCode.UNSUPPORTED:
        return SkippedRule(rule.name, refusal.code, refusal.reason)
    skipped = _skip_unmeasured(rule, health, policy)
    if skipped is not None:
        return skipped
    assessment = assess(rule, health, circumstances.now)
    if assessment.not_measured:
        names = ", ".join(assessment.not_measured)
        return SkippedRule(
            rule.name, SkipCode.NOT_MEASURED, f"not measured: {names}", findings=assessment.findings
        )
    if assessment.unmet:
        reason = "; ".join(assessment.unmet)
        return SkippedRule(
            rule.name,
            SkipCode.BELOW_THRESHOLD,
            reason,
            _next_threshold_check(rule, health),
            assessment.findings,
        )
    if refusal is not None:
        return SkippedRule(rule.name, refusal.code, refusal.reason, findings=assessment.findings)
    return _decide_gain(rule, health, policy, circumstances, assessment.findings)


def _find_bar(
    rule: Rule, health: TableHealth, policy: Policy, circumstances: Circumstances
) -> SkippedRule | None:
    """Why the rule is skipped, regardless of the table's health."""
    if not policy.is_enabled:
        return SkippedRule(
            rule.name,
            SkipCode.DISABLED,
            f"table property {ENABLED_PROPERTY}=false switches every rule off, also on request",
        )
    if policy.ambiguities:
        return SkippedRule(rule.name, SkipCode.AMBIGUOUS_POLICY, explain_ambiguities(policy))
    if not rule.is_enabled:
        return SkippedRule(rule.name, SkipCode.DISABLED, "the policy switches this rule off")
    if circumstances.no_runner is not None:
        return SkippedRule(rule.name, SkipCode.NO_RUNNER, circumstances.no_runner)
    unfit = find_unfit(circumstances.facts, health.table.catalog, circumstances.now)
    return (
        None
        if unfit is None
        else SkippedRule(rule.name, SkipCode.NO_RUNNER, unfit.reason, unfit.until)
    )


def _find_refusal(
    rule: Rule, health: TableHealth, policy: Policy, circumstances: Circumstances
) -> Refusal | None:
    chapter = CHAPTERS[rule.name]
    situation = Situation(circumstances.now, surroundings=circumstances.surroundings)
    restores = chapter.only_restores(situation)
    fault = None if restores else find_fault(circumstances.facts, rule, health)
    if fault is not None:
        return Refusal(SkipCode.UNSUPPORTED, fault)
    return (
        refuse(rule, health)
        or refuse_unchecked(rule, health, policy)
        or chapter.refuse(rule, health, situation)
        or (None if restores else refuse_shared(health, policy, circumstances.registrations))
    )


def _decide_gain(
    rule: Rule,
    health: TableHealth,
    policy: Policy,
    circumstances: Circumstances,
    findings: tuple[Finding, ...],
) -> PlannedAction | SkippedRule:
    history = circumstances.history.get(rule.name, RuleHistory(rule.name))
    since = find_waiting_since(rule.name, circumstances)
    size = choose_size(rule, health, policy, circumstances)
    memory_gb = size.profile.memory_gb
    chapter = CHAPTERS[rule.name]
    gain = (
        chapter.find_gain(
            rule, health, _describe_situation(rule, health, policy, circumstances, size.profile)
        )
        if health.snapshot_id is not None
        else None
    )
    if gain is None or not gain.is_worthwhile:
        sentence = (
            gain.sentence
            if gain is not None
            else "the table has nothing that this rule could change"
        )
        estimate, next_at, code = (
            (gain.estimate, gain.next_at, gain.code)
            if gain is not None
            else (None, None, SkipCode.NOTHING_TO_GAIN)
        )
        if isinstance(rule, RewriteRule) and code is SkipCode.HOT_PARTITION and next_at is not None:
            return SkippedRule(
                rule.name,
                code,
                sentence,
                min(next_at, end_of_patience(rule, since)),
                findings,
                estimate,
                waiting_since=since,
            )
        return SkippedRule(rule.name, code, sentence, next_at, findings, estimate)
    if gain.refusal is not None:
        return SkippedRule(rule.name, SkipCode.PINNED, gain.refusal, None, findings, gain.estimate)
    gain = replace(
        gain, action=spread_groups(gain.action, gain.estimate, circumstances.tasks_at_once)
    )
    cost = predict(
        rule.name,
        chapter.first_pace,
        chapter.measure_work(gain.estimate, health),
        circumstances.calibration,
        memory_gb,
    )
    worth = find_worth(
        chapter.find_benefit(gain.estimate),
        chapter.publish(gain.estimate, health),
        cost,
        health,
        history,
    )
    score = standing_score(worth, cost)
    if gain.is_continued:  # after a failure the action waits like all others
        history = replace(history, last_success_at=None, idle_at_state=None)
    held = hold_back(rule, gain.action, health, policy, circumstances, history)
    if held is not None:
        waiting_since = since if held.code in KEEPS_WAITING else None
        # What the policy would do is the whole argument for letting it.
        is_observed = held.code is SkipCode.OBSERVE_ONLY
        return SkippedRule(
            rule.name,
            held.code,
            f"{held.reason}; enforce mode would start it, because {gain.sentence}"
            if is_observed
            else held.reason,
            held.next_at,
            findings,
            gain.estimate,
            gain.action,
            cost,
            score,
            waiting_since,
        )
    unrest = find_unrest(rule, health, policy, circumstances.now, since)
    reason = "; ".join(
        [
            *(finding.sentence for finding in findings),
            gain.sentence,
            *([unrest.reason] if unrest is not None else []),
        ]
    )
    return PlannedAction(
        rule.name,
        gain.action,
        findings,
        gain.estimate,
        reason,
        cost,
        score,
        worth,
        since,
        rule.timeout,
        memory_gb,
        size.profile.size,
        size.reason,
        size.profile.executors_gb,
    )


def _describe_situation(
    rule: Rule,
    health: TableHealth,
    policy: Policy,
    circumstances: Circumstances,
    profile: SizeProfile,
) -> Situation:
    """What the rule's procedure may know of the circumstances."""
    since = find_waiting_since(rule.name, circumstances)
    rules = None if circumstances.is_requested else circumstances.admission
    return Situation(
        circumstances.now,
        target_of_policy(policy),
        circumstances.pins,
        circumstances.surroundings,
        circumstances.history.get(rule.name),
        circumstances.calibration,
        profile,
        circumstances.tasks_at_once,
        isinstance(rule, RewriteRule) and has_waited_out(rule, circumstances.now, since),
        find_most_per_job(rules, health.table.catalog, policy) if rules is not None else None,
    )


def find_most_per_job(rules: AdmissionRules, catalog: str, policy: Policy) -> Charge:
    """A quarter of the daily budgets, without their reserved parts; infinite without limits."""
    given = (rules.fleet, rules.per_catalog.get(catalog), policy.budget)
    budgets = [each for each in given if each is not None]
    share = (1.0 - rules.urgent_share - rules.explore_share) * JOB_SHARE
    sizes = [each.bytes_per_day for each in budgets if each.bytes_per_day is not None]
    hours = [each.gb_hours_per_day for each in budgets if each.gb_hours_per_day is not None]
    return Charge(min(sizes, default=inf) * share, min(hours, default=inf) * share)


def _skip_unmeasured(rule: Rule, health: TableHealth, policy: Policy) -> SkippedRule | None:
    if health.unreadable:
        reason = (
            f"{health.unreadable[0].path} cannot be read: {health.unreadable[0].reason}; no "
            f"maintenance runs on a table whose metadata is incomplete"
        )
        return SkippedRule(rule.name, SkipCode.NOT_MEASURED, reason)
    target = target_of_policy(policy)
    if rule.replaces_data_files and target is not None and target != health.target_file_size_bytes:
        measured = format_size(health.target_file_size_bytes)
        reason = (
            f"measured with a target file size of {measured}, but the policy now sets "
            f"{format_size(target)}: the next scan measures again"
        )
        return SkippedRule(rule.name, SkipCode.NOT_MEASURED, reason)
    return None


def _next_threshold_check(rule: Rule, health: TableHealth) -> datetime | None:
    """The next check: thresholds on ages are met by time alone, all others only by changes."""
    ages = [
        threshold.bound
        for threshold in rule.when
        if threshold.metric.value == "oldest_snapshot_age_seconds"
    ]
    if not ages or health.oldest_snapshot_at is None:
        return None
    return health.oldest_snapshot_at + timedelta(seconds=max(ages))


def on_request(
    policy: Policy, rules: tuple[RuleName, ...], *, keeps_thresholds: bool = False
) -> Policy:
    """The policy for a person's request.

    No mode, window, blackout, cooldown, writer or other maintainer delays it, except the window of
    a policy with unchecked writers. Named rules need no
    threshold either. Without names, the policy's own rules run with their thresholds. Guards, the
    table's own maintainer.enabled=false and the achievable gain count in both cases.
    keeps_thresholds: the rules are the rest of a request without names.
    """
    if keeps_thresholds or not rules:
        own = tuple(rule for rule in policy.rules if not rules or rule.name in rules)
    else:
        own = tuple(
            replace(policy.rule(RULES[name]) or RULES[name](), when=(), is_enabled=True)
            for name in rules
        )
    return replace(
        policy,
        mode=Mode.ENFORCE,
        window=policy.window if policy.writers else None,
        blackouts=(),
        others=Others.IGNORE,
        rules=tuple(_waive_waits(rule) for rule in own),
    )


def _waive_waits(rule: Rule) -> Rule:
    asked = replace(rule, cooldown=timedelta(0), every=None)
    if isinstance(asked, RewriteRule):
        asked = replace(asked, quiet_period=timedelta(0))
    if isinstance(asked, RewriteDataFilesRule):
        asked = replace(asked, hot_partition_age=timedelta(0), max_rewrites_per_byte=None)
    return asked
