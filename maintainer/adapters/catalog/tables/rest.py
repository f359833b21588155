"""PyIceberg's REST catalog with timeouts and waits; imported with the first REST catalog."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any, Final

import msgspec
from pydantic import TypeAdapter, ValidationError
from pyiceberg.catalog.rest import (
    Capability,
    Endpoints,
    RestCatalog,
    TableResponse,
)
from pyiceberg.catalog.rest.auth import AuthManager, OAuth2AuthManager, OAuth2TokenProvider
from pyiceberg.catalog.rest.response import _handle_non_200_response
from pyiceberg.catalog.rest.scan_planning import StorageCredential
from pyiceberg.exceptions import (
    AuthorizationExpiredError,
    NoSuchTableError,
    UnauthorizedError,
)
from pyiceberg.io import FileIO
from pyiceberg.table import Table
from pyiceberg.typedef import Identifier
from requests import HTTPError, PreparedRequest, Response, Session

from maintainer.adapters.catalog.tables.answers import AnswerError, BoundedAnswers
from maintainer.adapters.catalog.tables.loading import CONNECT_TIMEOUT_SECONDS, READ_TIMEOUT_SECONDS
from maintainer.adapters.catalog.tables.unknown_types import names_unknown_type, with_known_types
from maintainer.adapters.retry_after import ATTEMPTS, PUT_OFF, read_retry_after


@dataclass(slots=True)
class PatientRequests:
    """Sends a session's requests, and waits if the server asks for a wait.

    While one request waits, the requests of all threads wait. If the server asks for a wait at each
    attempt of a request, other requests get its last answer at once until that wait ends. Otherwise
    each table would wait during an outage.
    """

    send: Callable[..., Response]
    _free_at: float = 0.0  # the end of the wait, by the monotonic clock
    _last: Response | None = None  # the last answer to a request after all its attempts

    def __call__(self, *arguments: object, **options: object) -> Response:
        """Return the answer; after all attempts, the last answer."""
        last = self._last
        if last is not None and self._free_at > time.monotonic():
            return last
        response = self._send_in_time(*arguments, **options)
        for _ in range(ATTEMPTS - 1 if last is None else 0):
            if _find_wait(response) is None:
                break
            response = self._send_in_time(*arguments, **options)
        self._last = None if _find_wait(response) is None else response
        return response

    def _send_in_time(self, *arguments: object, **options: object) -> Response:
        wait = self._free_at - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        response = self.send(*arguments, **options)
        pause = _find_wait(response)
        if pause is not None:
            self._free_at = time.monotonic() + pause
        return response


def _find_wait(response: Response) -> float | None:
    """Return the seconds to wait before the next attempt; None if the answer is final.

    Without a Retry-After header the answer is final.
    """
    if response.status_code not in PUT_OFF:
        return None
    return read_retry_after(response.headers.get("Retry-After", ""))


class SessionTokens(OAuth2TokenProvider):
    """PyIceberg's tokens, fetched with the certificates and the timeouts of the session.

    PyIceberg itself fetches tokens without these certificates and timeouts.
    """

    def __init__(self, plain: OAuth2TokenProvider, session: Session) -> None:
        super().__init__(
            plain.client_id,
            plain.client_secret,
            plain.token_url,
            plain.scope,
            plain.refresh_margin,
            plain.expires_in,
        )
        self._session = session

    def _refresh_token(self) -> None:
        scope = {"scope": self.scope} if self.scope else {}
        response = self._session.post(
            self.token_url,
            data={"grant_type": "client_credentials", **scope},
            headers={
                "Authorization": self._client_secret_header,
                "Content-Type": "application/x-www-form-urlencoded",
            },
            auth=_leave_as_it_is,  # the session's authentication would need the token fetched here
        )
        response.raise_for_status()
        answer = response.json()
        seconds = answer.get("expires_in", self.expires_in)
        if seconds is None:
            raise ValueError(
                f"{self.token_url} does not say when its token expires; set auth.oauth2.expires_in"
            )
        self._token = answer["access_token"]
        self._expires_at = time.monotonic() + seconds - self.refresh_margin


def _leave_as_it_is(request: PreparedRequest) -> PreparedRequest:
    return request


def _bound(session: Session, answers: BoundedAnswers) -> None:
    """Give each request of the session its bounds, waits and the session's certificates.

    The certificates are passed with each request, because `requests` prefers the bundle of the
    environment to the bundle of the session.
    """
    if isinstance(session.request, PatientRequests):
        return
    session.hooks["response"].append(answers.read)
    verify = None if session.verify is True else session.verify
    bounded = partial(
        session.request, timeout=(CONNECT_TIMEOUT_SECONDS, READ_TIMEOUT_SECONDS), verify=verify
    )
    session.request = PatientRequests(bounded)  # type: ignore[method-assign]


class _Metadata(msgspec.Struct, frozen=True):
    properties: dict[str, Any] | None = None


class _Loaded(msgspec.Struct, frozen=True, rename="kebab"):
    """The parts of the answer to a load that say where the metadata lies and who may read it."""

    metadata_location: str
    metadata: _Metadata = _Metadata()
    config: dict[str, Any] | None = None  # servers write numbers too
    storage_credentials: msgspec.Raw = msgspec.Raw(b"null")


_LOADED: Final = msgspec.json.Decoder(_Loaded)
_CREDENTIALS: Final = TypeAdapter(list[StorageCredential] | None)


class BoundedRestCatalog(RestCatalog):
    """PyIceberg's REST catalog with bounds for each answer, which waits if the server asks."""

    def __init__(self, name: str, **properties: str) -> None:
        self._answers = BoundedAnswers()
        super().__init__(name, **properties)

    def _create_session(self) -> Session:
        session = super()._create_session()
        _bound(session, self._answers)
        manager = self._auth_manager
        if isinstance(manager, OAuth2AuthManager):
            manager.token_provider = SessionTokens(manager.token_provider, session)
        return session

    def _create_legacy_oauth2_auth_manager(self, session: Session) -> AuthManager:
        """Set the bounds of the session before it fetches its first token."""
        _bound(session, self._answers)
        return super()._create_legacy_oauth2_auth_manager(session)

    def list_tables(self, namespace: str | Identifier) -> list[Identifier]:
        """List a namespace's tables; AnswerError if it has no end."""
        with self._answers.one_listing():
            found: list[Identifier] = super().list_tables(namespace)
        return found

    def list_namespaces(self, namespace: str | Identifier = ()) -> list[Identifier]:
        """List the namespaces within a namespace; AnswerError if it has no end."""
        with self._answers.one_listing():
            found: list[Identifier] = super().list_namespaces(namespace)
        return found

    def find_pointer(self, identifier: Identifier) -> tuple[str, FileIO]:
        """Find a table's metadata and the FileIO that may read it, without reading a history.

        NoSuchTableError and PyIceberg's other exceptions, as of `load_table`.
        """
        try:
            return self._find_pointer(identifier)
        except (AuthorizationExpiredError, UnauthorizedError):
            self._refresh_token()
            return self._find_pointer(identifier)

    def _find_pointer(self, identifier: Identifier) -> tuple[str, FileIO]:
        self._check_endpoint(Capability.V1_LOAD_TABLE)
        path = self._split_identifier_for_path(identifier)
        response = self._session.get(
            self.url(Endpoints.load_table, **path), params={"snapshots": "refs"}
        )
        try:
            response.raise_for_status()
        except HTTPError as error:
            _handle_non_200_response(error, {HTTPStatus.NOT_FOUND: NoSuchTableError})
        try:
            loaded = _LOADED.decode(response.content)
            vended = self._resolve_storage_credentials(
                _CREDENTIALS.validate_json(bytes(loaded.storage_credentials)) or [],
                loaded.metadata_location,
            )
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise AnswerError(f"the catalog's answer is not valid: {error}") from error
        given = {**(loaded.metadata.properties or {}), **(loaded.config or {})}
        properties = {name: str(value) for name, value in given.items() if value is not None}
        properties |= vended
        return loaded.metadata_location, self._load_file_io(properties, loaded.metadata_location)

    def load_table(self, identifier: str | Identifier) -> Table:
        """Load a table, even if it has columns of a type that PyIceberg does not know."""
        try:
            table: Table = super().load_table(identifier)
        except ValidationError as error:
            if not names_unknown_type(error):
                raise
        else:
            return table
        path = self._split_identifier_for_path(identifier)
        response = self._session.get(self.url(Endpoints.load_table, **path))
        response.raise_for_status()
        document = response.json()
        document["metadata"] = with_known_types(document["metadata"])
        loaded = TableResponse.model_validate(document)
        return self._response_to_table(self.identifier_to_tuple(identifier), loaded)
