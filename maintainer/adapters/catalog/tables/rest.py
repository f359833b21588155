"""PyIceberg's REST catalog with timeouts and patience; imported with the first REST catalog."""

from __future__ import annotations

from functools import partial

from pydantic import ValidationError
from pyiceberg.catalog.rest import Endpoints, RestCatalog, TableResponse
from pyiceberg.table import Table
from pyiceberg.typedef import Identifier
from requests import Session

from maintainer.adapters.catalog.tables.loading import CONNECT_TIMEOUT_SECONDS, READ_TIMEOUT_SECONDS
from maintainer.adapters.catalog.tables.patience import PatientRequests
from maintainer.adapters.catalog.tables.unknown_types import names_unknown_type, with_known_types


class BoundedRestCatalog(RestCatalog):
    """PyIceberg's REST catalog with a timeout for its requests, which waits when it is put off."""

    def _create_session(self) -> Session:
        session = super()._create_session()
        # Passed with each request, because requests prefers the environment's bundle to the
        # session's.
        verify = None if session.verify is True else session.verify
        bounded = partial(
            session.request, timeout=(CONNECT_TIMEOUT_SECONDS, READ_TIMEOUT_SECONDS), verify=verify
        )
        session.request = PatientRequests(bounded)  # type: ignore[method-assign]
        return session

    def load_table(self, identifier: str | Identifier) -> Table:
        """Load a table, also one with columns of a type that PyIceberg does not know."""
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
