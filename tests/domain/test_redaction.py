from __future__ import annotations

import pytest

from maintainer.domain.redaction import find_secrets, hide_secrets, names_secret, redact_url


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://maria:p@ss:w@db/lake", "postgresql://maria:***@db/lake"),
        ("https://host/path?token=abc&page=2", "https://host/path?token=***&page=2"),
        ("sqlite:////data/lake.db", None),
        ("https://abcdef@host/path", "https://***@host/path"),
        ("abfss://container@account.dfs.core.windows.net/a", None),
        ("s3://bucket/key", None),
    ],
)
def test_a_url_is_shown_without_its_secrets(url: str, shown: str | None) -> None:
    assert redact_url(url) == (shown or url)


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


def test_values_of_secret_settings_are_hidden_in_any_text() -> None:
    secrets = find_secrets(
        {
            "s3.secret-access-key": "a/b+c&d",
            "credential": "client:pass-phrase",
            "s3.path-style-access-key": "true",
            "token": "abc",
            "warehouse": "s3://lake",
        }
    )
    text = "put a/b+c&d or pass-phrase: true s3://lake abc"
    assert hide_secrets(text, secrets) == "put *** or ***: true s3://lake abc"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("GET https://h/p?sig=abc&page=2 failed", "GET https://h/p?sig=***&page=2 failed"),
        ("fs.s3a.secret.key=abc, x=1", "fs.s3a.secret.key=***, x=1"),
        ("{password=abc}", "{password=***}"),
        ("Authorization: Bearer abc.def", "Authorization: Bearer ***"),
        ("jdbc:postgresql://ada:abc@db/lake", "jdbc:postgresql://ada:***@db/lake"),
        ("the token has expired", "the token has expired"),
    ],
)
def test_secrets_that_a_name_shows_are_hidden_without_knowing_them(text: str, shown: str) -> None:
    assert hide_secrets(text, ()) == shown


def test_a_long_line_takes_no_time_that_grows_with_its_square() -> None:
    line = "secret." * 30_000
    assert hide_secrets(line, ()) == line
