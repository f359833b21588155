"""OpenLineage events of finished jobs: which table a job has read and written."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit
from uuid import NAMESPACE_URL, uuid5

from maintainer.adapters.deliveries import MAX_WAITING, Deliveries
from maintainer.adapters.extras import require_package
from maintainer.domain.effect import Effect
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job, JobState

if TYPE_CHECKING:
    from openlineage.client.event_v2 import RunEvent

_PRODUCER: Final = "urn:iceberg-maintainer"
_INTEGRATION: Final = "ICEBERG_MAINTAINER"
_REQUEST_SECONDS: Final = 5.0
_CLOSE_GRACE: Final = timedelta(seconds=2)
# In OpenLineage's names of datasets, paths with these schemes begin with a slash; keys of objects
# do not.
_FILE_SYSTEMS: Final = frozenset({"file", "hdfs", "ofs", "viewfs"})
_S3_NAMES: Final = frozenset({"s3a", "s3n"})

log = logging.getLogger(__name__)


class LineageExporter:
    """Sends a START and an end for each job, from a separate thread.

    OpenLineage's client repeats a request for some ten seconds. If a receiver is unavailable
    longer, its events are lost. The id of the run is made from the job's id, so that a repeated
    event is for the same run.
    """

    def __init__(
        self,
        url: str,
        api_key: str | None,
        namespace: str,
        find_location: Callable[[TableIdentifier], str | None],
    ) -> None:
        """Start the thread; ImportError without the extra `openlineage`.

        `find_location` returns where a table's files are, if the store knows it.
        """
        require_package("openlineage.client", "openlineage", "lineage")
        # The import of this extra takes 0.3 s, and that of requests 0.05 s.
        import requests  # noqa: PLC0415
        from openlineage.client.transport.http import (  # noqa: PLC0415
            ApiKeyTokenProvider,
            HttpConfig,
            HttpTransport,
            TokenProvider,
        )

        session = requests.Session()
        session.max_redirects = 0  # the token must go only to the configured address
        auth = ApiKeyTokenProvider({"apiKey": api_key}) if api_key else TokenProvider({})
        base = f"{url.rstrip('/')}/"
        self._transport = HttpTransport(
            HttpConfig(base, auth=auth, session=session, timeout=_REQUEST_SECONDS)
        )
        self._namespace = namespace
        self._find_location = find_location
        self._deliveries = Deliveries("lineage", self._deliver)

    def step_finished(self, step: str, seconds: float, is_ok: bool) -> None:
        """Steps have no lineage."""

    def job_finished(self, job: Job, effect: Effect | None) -> None:
        """Queue a job that has reached a final state."""
        if not self._deliveries.put((job, effect)):
            log.warning("lineage.lost job=%s error=%r", job.job_id, f"{MAX_WAITING} wait")

    def close(self) -> None:
        """Wait a short time for queued events."""
        self._deliveries.close(_CLOSE_GRACE)

    def _deliver(self, work: tuple[Job, Effect | None], *_: object) -> None:
        """Send the events of a job once: the client itself repeats a request."""
        job, effect = work
        try:
            for event in self._make_events(job, effect):
                self._transport.emit(event)
        # No error of the store, the network or a receiver may end the thread.
        except Exception as error:  # noqa: BLE001
            log.warning("lineage.lost job=%s error=%s", job.job_id, type(error).__name__)

    def _make_events(self, job: Job, effect: Effect | None) -> tuple[RunEvent, RunEvent]:
        from openlineage.client.event_v2 import (  # noqa: PLC0415
            InputDataset,
            OutputDataset,
            Run,
            RunEvent,
            RunState,
        )
        from openlineage.client.event_v2 import Job as LineageJob  # noqa: PLC0415
        from openlineage.client.facet_v2 import (  # noqa: PLC0415
            JobFacet,
            RunFacet,
            dataset_version_dataset,
            error_message_run,
            job_type_job,
            output_statistics_output_dataset,
            symlinks_dataset,
        )

        table = ".".join((*job.table.namespace, job.table.name))
        location = self._find_location(job.table)
        namespace, name = name_dataset(location) if location else (job.table.catalog, table)
        alias = symlinks_dataset.Identifier(job.table.catalog, table, "TABLE")
        symlinks = {"symlinks": symlinks_dataset.SymlinksDatasetFacet(identifiers=[alias])}
        output = OutputDataset(namespace, name, facets=dict(symlinks))
        if effect is not None and effect.after.snapshot_id is not None and output.facets:
            output.facets["version"] = dataset_version_dataset.DatasetVersionDatasetFacet(
                datasetVersion=str(effect.after.snapshot_id)
            )
            output.outputFacets = {
                "outputStatistics": (
                    output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(
                        size=effect.bytes_rewritten
                    )
                )
            }
        kind: dict[str, JobFacet] = {
            "jobType": job_type_job.JobTypeJobFacet("BATCH", _INTEGRATION, "MAINTENANCE")
        }
        failure: dict[str, RunFacet] = (
            {"errorMessage": error_message_run.ErrorMessageRunFacet(job.failure_message, "SQL")}
            if job.failure_message
            else {}
        )
        run_id = str(uuid5(NAMESPACE_URL, f"{self._namespace}/{job.job_id}"))
        ends = {JobState.SUCCEEDED: RunState.COMPLETE, JobState.CANCELLED: RunState.ABORT}

        def make(state: RunState, at: datetime, facets: dict[str, RunFacet]) -> RunEvent:
            return RunEvent(
                eventTime=at.isoformat(),
                producer=_PRODUCER,
                run=Run(run_id, facets),
                job=LineageJob(self._namespace, f"{job.table}.{job.rule}", kind),
                eventType=state,
                inputs=[InputDataset(namespace, name, facets=dict(symlinks))],
                outputs=[output],
            )

        return (
            make(RunState.START, job.started_at or job.created_at, {}),
            make(ends.get(job.state, RunState.FAIL), job.closed_at, failure),
        )


def name_dataset(location: str) -> tuple[str, str]:
    """Return (namespace, name) of a directory by OpenLineage's rules: ("s3://lake", "db/t")."""
    parts = urlsplit(location)
    scheme = "s3" if parts.scheme in _S3_NAMES else parts.scheme or "file"
    path = parts.path.rstrip("/")
    namespace = f"{scheme}://{parts.netloc}" if parts.netloc else scheme
    return namespace, path if scheme in _FILE_SYSTEMS else path.lstrip("/")
