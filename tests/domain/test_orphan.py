from __future__ import annotations

from maintainer.domain.orphan import OrphanListState, quarantine_of


def test_a_list_is_final_when_nobody_can_change_it_any_more() -> None:
    assert {state for state in OrphanListState if not state.is_final} == {
        OrphanListState.WAITING,
        OrphanListState.APPROVED,
        OrphanListState.QUARANTINED,
        OrphanListState.RESTORING,
    }


def test_the_quarantine_of_a_list_is_below_its_table_and_hidden_from_programs() -> None:
    assert quarantine_of("s3://lake/orders/", "m-1") == (
        "s3://lake/orders/_maintainer_quarantine/m-1/"
    )
