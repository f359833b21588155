from __future__ import annotations

import pytest

from maintainer.domain.redaction import names_secret, redact_url


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://maria:p@ss:w@db/lake", "postgresql://maria:***@db/lake"),
        ("https://host/path?token=abc&page=2", "https://host/path?token=***&page=2"),
        ("sqlite:////data/lake.db", "sqlite:////data/lake.db"),
        ("s3://bucket/key", "s3://bucket/key"),
    ],
)
def test_a_url_is_shown_without_its_secrets(url: str, shown: str) -> None:
    assert redact_url(url) == shown


def test_names_tell_which_settings_are_secret() -> None:
    assert [
        name
        for name in ("uri", "s3.secret-access-key", "oauth2.Credential", "warehouse", "token")
        if names_secret(name)
    ] == [
        "s3.secret-access-key",
        "oauth2.Credential",
        "token",
    ]
