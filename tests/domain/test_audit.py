from __future__ import annotations

from maintainer.domain.audit import name_actor, name_person, name_token


def test_everybody_is_a_person_but_for_the_bearer_of_a_token() -> None:
    assert [
        name_actor(by) for by in ("ada", "person", "", name_token("ci"), name_person("ada", "page"))
    ] == [
        "person ada",
        "person",
        "person",
        "token ci",
        "person ada via page",
    ]
