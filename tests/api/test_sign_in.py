"""People who sign in at an OpenID provider: with bearer tokens, and on the page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import OctKey
from starlette.requests import Request

from maintainer.adapters.identity import (
    FRESH_SECONDS,
    REFETCH_SECONDS,
    CookieSealer,
    OpenIdProvider,
    ProviderOptions,
)
from maintainer.api.deps import COOKIE, People, client_of
from maintainer.api.guard import Limits
from maintainer.api.session import SIGN_IN_COOKIE
from maintainer.api.session_ends import EndedSessions
from maintainer.domain.access import ClaimRule, Grant, Role
from maintainer.domain.audit import AuditQuery, Deed
from maintainer.domain.errors import CredentialsRefusedError
from tests.api.listening import DEADLINE_SECONDS
from tests.api.nouns import ORDERS
from tests.api.people import let_in, secret_of
from tests.api.serving import HOST, Client, expect_problem, path_of
from tests.fakes.adapters.store import FakeStore
from tests.oidc import CLIENT, CLIENT_SECRET, Provider, provider
from tests.samples import NOW

RULES = (
    ClaimRule(Grant(Role.OPERATOR, ("lake.sales.",)), "groups", "night"),
    ClaimRule(Grant(Role.ADMIN), "realm.roles", "root"),
)
PAGE = f"http://{HOST}"
PAUSE = f"{path_of(ORDERS)}/pause"
OUR_ORIGIN = {"Origin": PAGE}


@pytest.fixture(scope="module")
def shared() -> Iterator[Provider]:
    with provider() as made:
        yield made


@pytest.fixture
def people(shared: Provider) -> Provider:
    """The provider as it is at first."""
    fresh = Provider(shared.issuer, key=shared.key)
    for name, value in vars(fresh).items():
        setattr(shared, name, value)
    return shared


class Clock:
    """Seconds that pass when a test says so."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def guarded(client: Client, people: Provider, clock: Clock) -> Client:
    """The API with this provider."""
    options = ProviderOptions(
        people.issuer, CLIENT, "the-api", f"{PAGE}/api/v1/session/callback", CLIENT_SECRET
    )
    client.daemon.people = People(OpenIdProvider(options, clock), RULES, page=PAGE)
    return client


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def cookies_of(response: httpx.Response) -> dict[str, str]:
    return dict(response.cookies.items())


def as_header(cookies: dict[str, str]) -> dict[str, str]:
    return {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}


def sign_in(client: Client, address: str = "/jobs") -> httpx.Response:
    """The answer to the browser's return from the provider."""
    begun = client.get("/api/v1/session/sign-in", next=address)
    assert begun.status_code == 302, begun.text
    returned = httpx.get(begun.headers["location"], timeout=DEADLINE_SECONDS)
    assert returned.status_code == 302, returned.text
    back = urlsplit(returned.headers["location"])
    query = {name: values[0] for name, values in parse_qs(back.query).items()}
    return client.get(back.path, as_header(cookies_of(begun)), **query)


def changes_of(client: Client) -> list[str]:
    entries = client.daemon.store.audit(AuditQuery()).items
    return [entry.actor for entry in entries if entry.deed is Deed.WORK_PAUSED]


def session_of(client: Client) -> dict[str, str]:
    return as_header({COOKIE: sign_in(client).cookies[COOKIE]})


def test_a_bearer_token_acts_in_its_persons_name_with_the_role_of_the_claims(
    guarded: Client, people: Provider
) -> None:
    ada = bearer(people.issue("the-api"))
    assert guarded.post(PAUSE, {}, ada).json()["by"] == "person ada via bearer"
    assert guarded.daemon.store.audit(AuditQuery()).items[0].actor == "person ada via bearer"
    expect_problem(guarded.get("/api/v1/policies", ada), 403)
    root = bearer(people.issue("the-api", groups=None, realm={"roles": ["root"]}))
    assert guarded.get("/api/v1/policies", root).status_code == 200
    nobody = bearer(people.issue("the-api", groups="nightshift"))
    assert "no role" in expect_problem(guarded.get("/api/v1/tables", nobody), 403)
    expect_problem(guarded.get(path_of(ORDERS), nobody), 404)


def test_tokens_that_are_not_for_us_are_refused(guarded: Client, people: Provider) -> None:
    others = {
        "audience": people.issue("another-api"),
        "issuer": people.issue("the-api", iss="https://evil.example"),
        "expiry": people.issue("the-api", exp=None),
        "subject": people.issue("the-api", sub=None),
        "signature": people.issue("the-api")[:-8] + "AAAAAAAA",
        "key": jwt.encode(
            {"alg": "HS256", "kid": people.key.kid},
            {"sub": "x", "iss": people.issuer, "aud": "the-api", "exp": 2**40},
            OctKey.import_key("guessed-by-somebody-0123456789-0"),
        ),
        "text": "a.b.c",
    }
    for what, token in others.items():
        refused = guarded.post(PAUSE, {}, bearer(token))
        expect_problem(refused, 401)
        assert token not in refused.text, what
    assert changes_of(guarded) == []


def test_clocks_may_differ_by_the_leeway(guarded: Client, people: Provider) -> None:
    people.clock = -350  # its tokens end 50 seconds ago
    assert guarded.get("/api/v1/tables", bearer(people.issue("the-api"))).status_code == 200
    people.clock = -370
    late = expect_problem(guarded.get("/api/v1/tables", bearer(people.issue("the-api"))), 401)
    assert "clocks" in late
    people.clock = 50
    assert guarded.get("/api/v1/tables", bearer(people.issue("the-api"))).status_code == 200
    people.clock = 70
    expect_problem(guarded.get("/api/v1/tables", bearer(people.issue("the-api"))), 401)


def test_a_rotated_key_is_fetched_once_and_invented_ones_ask_seldom(
    guarded: Client, people: Provider, clock: Clock
) -> None:
    def ask() -> int:
        return guarded.get("/api/v1/tables", bearer(people.issue("the-api"))).status_code

    assert ask() == 200
    clock.now += REFETCH_SECONDS
    people.rotate("second")
    assert (ask(), people.asked.count("/keys")) == (200, 2)
    people.rotate("third")
    assert [ask() for _ in range(5)] == [401] * 5, "asked again a moment ago"
    assert people.asked.count("/keys") == 2
    clock.now += REFETCH_SECONDS
    assert (ask(), people.asked.count("/keys")) == (200, 3)


def test_while_the_provider_is_away_known_keys_and_sessions_go_on(
    guarded: Client, people: Provider, clock: Clock
) -> None:
    people.is_away = True
    token = bearer(people.issue("the-api"))
    away = guarded.get("/api/v1/tables", token)
    assert people.issuer in expect_problem(away, 503)
    nobody_new = guarded.get("/api/v1/session/sign-in")
    assert nobody_new.headers["location"] == "/?sign-in=unavailable"
    people.is_away = False
    assert guarded.get("/api/v1/tables", token).status_code == 200
    session = session_of(guarded)
    people.is_away = True
    clock.now += FRESH_SECONDS
    assert guarded.get("/api/v1/tables", token).status_code == 200
    assert guarded.get("/api/v1/tables", session).status_code == 200


def test_a_provider_with_another_name_or_without_keys_is_no_provider(
    guarded: Client, people: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = bearer(people.issue("the-api"))
    for lie in ({"issuer": "https://evil.example"}, {"issuer": people.issuer}):
        monkeypatch.setattr(Provider, "discovery", lambda _, lie=lie: lie)
        expect_problem(guarded.get("/api/v1/tables", token), 503)


def test_on_the_page_people_sign_in_and_out(guarded: Client) -> None:
    back = sign_in(guarded, "/jobs?state=failed")
    assert (back.status_code, back.headers["location"]) == (302, "/jobs?state=failed")
    set_cookie = next(
        value for value in back.headers.get_list("set-cookie") if value.startswith(COOKIE)
    )
    assert {"HttpOnly", "Path=/", "SameSite=strict"} <= set(set_cookie.split("; "))
    session = as_header({COOKIE: back.cookies[COOKIE]})
    told = guarded.get("/api/v1/session", session).json()
    assert (told["is_needed"], told["name"]) == (True, "person ada via page")
    assert told["grants"] == [{"role": "operator", "prefixes": ["lake.sales."]}]
    assert guarded.post(PAUSE, {}, session | OUR_ORIGIN).json()["by"] == "person ada via page"
    out = guarded.send("DELETE", "/api/v1/session", session | OUR_ORIGIN)
    assert out.status_code == 204
    assert f'{COOKIE}=""; ' in out.headers["set-cookie"]
    assert guarded.get("/api/v1/session").json()["name"] is None
    expect_problem(guarded.get("/api/v1/tables"), 401)


def test_a_copied_cookie_is_worth_nothing_after_signing_out(guarded: Client) -> None:
    copied, other = session_of(guarded), session_of(guarded)
    replica = Client(guarded.daemon)
    assert replica.get("/api/v1/session", copied).json()["name"] == "person ada via page"
    assert guarded.send("DELETE", "/api/v1/session", copied | OUR_ORIGIN).status_code == 204
    expect_problem(guarded.get("/api/v1/tables", copied), 401)
    restarted = Client(guarded.daemon)  # another process, which reads the store
    expect_problem(restarted.get("/api/v1/tables", copied), 401)
    assert restarted.get("/api/v1/tables", other).status_code == 200, "another session goes on"


def test_a_list_that_was_read_before_a_sign_out_brings_no_session_back() -> None:
    store, ended = FakeStore(), EndedSessions()

    class Slow:
        """The store, whose list is on its way while the session is ended."""

        def end_session(self, *arguments: Any) -> None:
            store.end_session(*arguments)

        def ended_sessions(self, now: datetime) -> Sequence[str]:
            found = store.ended_sessions(now)
            ended.end(self, "cookie", NOW + timedelta(hours=1), NOW)
            return found

    assert ended.has(Slow(), "cookie", NOW)


def test_a_page_behind_tls_gets_cookies_for_tls_alone_and_for_its_prefix(guarded: Client) -> None:
    people = guarded.daemon.people
    assert people is not None
    guarded.daemon.people = replace(people, page="https://lake.example")
    guarded.daemon.prefix = "/maintainer"
    behind = Client(guarded.daemon)
    begun = behind.get("/maintainer/api/v1/session/sign-in")
    assert {"Secure", "Path=/maintainer", "SameSite=lax", "HttpOnly"} <= set(
        begun.headers["set-cookie"].split("; ")
    )
    failed = behind.get("/maintainer/api/v1/session/callback", code="x", state="y")
    assert failed.headers["location"] == "/maintainer/?sign-in=refused"


def test_a_change_with_a_session_must_come_from_our_page(guarded: Client) -> None:
    session = session_of(guarded)
    assert "Origin" in expect_problem(guarded.post(PAUSE, {}, session), 403)
    evil = guarded.post(PAUSE, {}, session | {"Origin": "https://evil.example"})
    assert "evil.example" in expect_problem(evil, 403)
    assert changes_of(guarded) == []
    ours = guarded.post(PAUSE, {}, session | {"Sec-Fetch-Site": "same-origin"})
    assert ours.status_code == 200


def test_a_return_that_this_browser_did_not_begin_signs_nobody_in(
    guarded: Client,
) -> None:
    begun, other = (guarded.get("/api/v1/session/sign-in") for _ in range(2))
    back = urlsplit(
        httpx.get(begun.headers["location"], timeout=DEADLINE_SECONDS).headers["location"]
    )
    query = {name: values[0] for name, values in parse_qs(back.query).items()}
    ours, theirs = (as_header(cookies_of(each)) for each in (begun, other))
    tries: list[tuple[dict[str, str], dict[str, Any]]] = [
        ({}, query),
        (theirs, query),  # another sign-in's state
        (as_header({SIGN_IN_COOKIE: "a.b.c"}), query),
        (ours, query | {"state": "x"}),
        (ours, {"state": query["state"]}),
        (ours, query | {"code": "invented"}),
    ]
    for headers, asked in tries:
        refused = guarded.get(back.path, headers, **asked)
        assert refused.headers["location"] == "/?sign-in=refused"
        assert COOKIE not in cookies_of(refused)
    assert guarded.get(back.path, ours, **query).cookies.get(COOKIE)
    again = guarded.get(back.path, ours, **query)
    assert again.headers["location"] == "/?sign-in=refused", "a code is used once"


def test_a_token_of_another_sign_in_signs_nobody_in(guarded: Client, people: Provider) -> None:
    begun = guarded.get("/api/v1/session/sign-in")
    back = urlsplit(
        httpx.get(begun.headers["location"], timeout=DEADLINE_SECONDS).headers["location"]
    )
    query = {name: values[0] for name, values in parse_qs(back.query).items()}
    people.begun[query["code"]]["nonce"] = "another"
    refused = guarded.get(back.path, as_header(cookies_of(begun)), **query)
    assert refused.headers["location"] == "/?sign-in=refused"


@pytest.mark.parametrize(("party", "is_ours"), [("the-page", True), ("another-client", False)])
def test_a_token_for_this_client_that_another_client_got_is_refused(
    people: Provider, party: str, is_ours: bool
) -> None:
    ours = OpenIdProvider(ProviderOptions(people.issuer, "the-page", "the-page", "http://x/"))
    token = people.issue("the-page", azp=party)
    if is_ours:
        assert ours.read_bearer(token)["azp"] == party
        return
    with pytest.raises(CredentialsRefusedError, match="issued to the client 'another-client'"):
        ours.read_bearer(token)
    of_an_api = OpenIdProvider(ProviderOptions(people.issuer, "the-page", "the-api", "http://x/"))
    assert of_an_api.read_bearer(people.issue("the-api", azp=party))["azp"] == party


@pytest.mark.parametrize("address", ["//evil.example", "https://evil.example", "/\\evil.example"])
def test_a_sign_in_returns_to_this_page_alone(guarded: Client, address: str) -> None:
    assert sign_in(guarded, address).headers["location"] == "/"


def test_a_session_is_of_this_key_and_of_the_rules_that_hold_now(guarded: Client) -> None:
    session, people = session_of(guarded), guarded.daemon.people
    assert people is not None
    guarded.daemon.people = replace(people, rules=RULES[1:])
    expect_problem(Client(guarded.daemon).get("/api/v1/tables", session), 403)
    guarded.daemon.people = people
    guarded.daemon.sealer = CookieSealer("another key, of another daemon ...")
    expect_problem(Client(guarded.daemon).get("/api/v1/tables", session), 401)


def test_replicas_with_one_key_know_each_others_sessions(guarded: Client) -> None:
    guarded.daemon.sealer = CookieSealer("the key of all replicas 0123456789")
    session = session_of(Client(guarded.daemon))
    guarded.daemon.sealer = CookieSealer("the key of all replicas 0123456789")
    assert Client(guarded.daemon).get("/api/v1/tables", session).status_code == 200


def test_a_token_signs_in_on_the_page_until_it_is_changed(client: Client) -> None:
    let_in(client, "ci", Role.OPERATOR)
    expect_problem(client.post("/api/v1/session", {"token": "wrong"}, OUR_ORIGIN), 401)
    begun = client.post("/api/v1/session", {"token": secret_of("ci")}, OUR_ORIGIN)
    assert begun.status_code == 204
    assert secret_of("ci") not in json.dumps(cookies_of(begun))
    session = as_header(cookies_of(begun))
    assert client.post(PAUSE, {}, session | OUR_ORIGIN).json()["by"] == "token ci"
    client.daemon.tokens["ci"] = replace(client.daemon.tokens["ci"], secret="a new secret 0123")  # noqa: S106
    expect_problem(client.get("/api/v1/tables", session), 401)
    secure = client.post(
        "/api/v1/session", {"token": "a new secret 0123"}, {"Origin": f"http://{HOST}"}
    )
    assert "Secure" not in secure.headers["set-cookie"]


def test_without_a_page_nobody_signs_in_on_it(client: Client) -> None:
    for path in ("sign-in", "callback"):
        expect_problem(client.get(f"/api/v1/session/{path}"), 404)
    assert client.get("/api/v1/session").json()["is_needed"] is False


def test_a_person_may_send_so_many_requests(client: Client) -> None:
    clock = Clock()
    client.daemon.limits = Limits(60, clock)
    one, other = let_in(client, "one", Role.VIEWER), let_in(client, "other", Role.VIEWER)
    answers = [client.get("/api/v1/pauses", one) for _ in range(61)]
    assert [answer.status_code for answer in answers] == [200] * 60 + [429]
    assert "token one" in expect_problem(answers[-1], 429)
    assert answers[-1].headers["retry-after"] == "1"
    assert client.get("/api/v1/pauses", other).status_code == 200
    clock.now += 1
    assert client.get("/api/v1/pauses", one).status_code == 200
    expect_problem(client.get("/api/v1/pauses", one), 429)


def test_an_address_may_fail_to_sign_in_so_often_and_sessions_go_on(
    guarded: Client, people: Provider
) -> None:
    client, clock = guarded, Clock()
    client.daemon.failures = Limits(4, clock)
    right = let_in(client, "ci", Role.OPERATOR)
    session = as_header(
        cookies_of(client.post("/api/v1/session", {"token": secret_of("ci")}, OUR_ORIGIN))
    )
    assert client.get("/api/v1/pauses").status_code == 401, "nothing was tried"
    for refused in (
        client.get("/api/v1/pauses", {"Authorization": "Bearer wrong"}),
        client.get("/api/v1/pauses", {"Authorization": f"Bearer {people.issue('other')}"}),
        client.get("/api/v1/session", {"Authorization": "Basic eDp5"}),
        client.post("/api/v1/session", {"token": "wrong"}, OUR_ORIGIN),
    ):
        expect_problem(refused, 401)
    for beyond in (
        client.get("/api/v1/pauses", {"Authorization": "Bearer wrong"}),
        client.get("/api/v1/pauses", right),
        client.post("/api/v1/session", {"token": secret_of("ci")}, OUR_ORIGIN),
    ):
        message = expect_problem(beyond, 429)
        assert "127.0.0.1 has failed to sign in more often" in message
        assert "auth.failed_sign_ins_per_minute" in message
        assert beyond.headers["retry-after"] == "15"
    assert client.get("/api/v1/pauses", session).status_code == 200
    clock.now += 15
    assert client.get("/api/v1/pauses", right).status_code == 200
    expect_problem(client.get("/api/v1/pauses", {"Authorization": "Bearer wrong"}), 401)
    expect_problem(client.get("/api/v1/pauses", right), 429)


def test_of_ipv6_a_whole_network_is_one_client() -> None:
    addresses = ("2001:db8::1", "2001:db8::ffff:2", "2001:db8:0:1::1", "192.0.2.7", "unix")
    asked = [Request({"type": "http", "client": (address, 1)}) for address in addresses]
    assert [client_of(request) for request in (*asked, Request({"type": "http"}))] == [
        "2001:db8::/64", "2001:db8::/64", "2001:db8:0:1::/64", "192.0.2.7", "unix", "",
    ]  # fmt: skip
