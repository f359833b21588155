"""`maintainer orphans`: lists of orphan files, and the decisions about them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from maintainer.api.orphans import MAX_FILES_TOLD, OrphanFileOut, write_list
from maintainer.cli.output.console import OutputFormat, echo, print_json, print_list
from maintainer.cli.output.rows import Rows
from maintainer.cli.state import Config, Format, TableName, load, open_app
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.orphan import OrphanList, OrphanListState
from maintainer.domain.units import format_instant, format_size
from maintainer.procedures.remove_orphan_files.approval import describe_removal
from maintainer.requests.approval import approve_list, find_list, reject_list, restore_list

orphans_app = typer.Typer(
    name="orphans",
    help="Orphan files, which no table references: list, show, approve or reject their deletion.",
    no_args_is_help=True,
)

ListId = Annotated[
    str, typer.Option("--list", help="The list's id, as `maintainer orphans list` shows it.")
]
By = Annotated[str, typer.Option("--by", help="The person's name, for the audit log.")]
DEFAULT_BY = "person"
FILES_SHOWN = 100


@orphans_app.command("list")
def list_lists(
    table: TableName, output: Format = OutputFormat.TABLE, config: Config = None
) -> None:
    """List the results of orphan scans of a table, newest first."""
    wanted = TableIdentifier.parse(table)
    with open_app(load(config)) as app:
        now = app.ports.clock.now()
        lists = app.ports.store.orphan_lists(wanted)
    if output is OutputFormat.JSON:
        print_json([write_list(orphans, now).model_dump(mode="json") for orphans in lists])
        return
    if not lists:
        echo(f"{wanted} has no list of orphan files")
        return
    grid = Rows(
        ("list", "made at (UTC)", "files", "bytes", "state", "by"), right=("files", "bytes")
    )
    for orphans in lists:
        grid.add_row(
            orphans.list_id,
            f"{orphans.made_at:%Y-%m-%d %H:%M}",
            f"{orphans.files:,}",
            format_size(orphans.bytes),
            _describe_state(orphans, now),
            orphans.decided_by,
        )
    print_list(grid)


def _describe_state(orphans: OrphanList, now: datetime) -> str:
    is_expired = orphans.state.is_undecided and now >= orphans.expires_at
    return f"{orphans.state}, expired" if is_expired else str(orphans.state)


@orphans_app.command()
def show(  # noqa: PLR0913, PLR0917 - the options of one command
    table: TableName,
    list_id: ListId,
    limit: Annotated[
        int,
        typer.Option("--limit", min=1, max=MAX_FILES_TOLD, help="Maximum number of files."),
    ] = FILES_SHOWN,
    after: Annotated[
        int, typer.Option("--after", min=0, help="Number of files to skip at the beginning.")
    ] = 0,
    output: Format = OutputFormat.TABLE,
    config: Config = None,
) -> None:
    """Print one list with its files, their sizes and times."""
    with open_app(load(config)) as app:
        orphans = find_list(app.ports, TableIdentifier.parse(table), list_id)
        now = app.ports.clock.now()
        files = app.ports.store.orphan_files(list_id, after, limit)
    if output is OutputFormat.JSON:
        written = [OrphanFileOut.model_validate(file).model_dump(mode="json") for file in files]
        print_json({"list": write_list(orphans, now).model_dump(mode="json"), "files": written})
        return
    for line in _describe(orphans, now):
        echo(line)
    for file in files:
        size = format_size(file.size_bytes) if file.size_bytes is not None else "?"
        echo(
            f"{size:>10}  "
            f"{f'{file.modified_at:%Y-%m-%d %H:%M}' if file.modified_at is not None else '?':<16} "
            f" {file.path}"
        )
    if after + len(files) < orphans.files:
        echo(f"... and {orphans.files - after - len(files):,} more: --after {after + len(files)}")


def _describe(orphans: OrphanList, now: datetime) -> list[str]:
    lines = [
        (
            f"list {orphans.list_id} of {orphans.table}: {orphans.files:,} files of "
            f"{format_size(orphans.bytes)}, {_describe_state(orphans, now)}"
        ),
        (
            f"older than {format_instant(orphans.older_than)}, at {orphans.location}; "
            f"{orphans.kept_files:,} more files were found, but must be kept"
        ),
        f"SHA-256 {orphans.sha256}",
    ]
    if orphans.state is OrphanListState.WAITING:
        lines.append(describe_removal(orphans))
    if not orphans.state.is_final:
        lines.append(f"until {format_instant(orphans.expires_at)}")
    if orphans.decided_at is not None:
        lines.append(f"decided by {orphans.decided_by} at {format_instant(orphans.decided_at)}")
    if orphans.removed_at is not None:
        lines.append(
            f"job {orphans.removed_by} removed {orphans.removed_files:,} files of "
            f"{format_size(orphans.removed_bytes)}"
        )
    return lines + [text for text in (orphans.refusal, orphans.warning) if text is not None]


@orphans_app.command()
def approve(
    table: TableName,
    list_id: ListId,
    by: By = DEFAULT_BY,
    sha256: Annotated[
        str,
        typer.Option("--sha256", help="Approve only a list with this hash."),
    ] = "",
    config: Config = None,
) -> None:
    """Approve deletion of exactly the files in a list: by the next job, or now by `maintainer run
    TABLE --action remove_orphan_files`.
    """
    with open_app(load(config)) as app:
        orphans = approve_list(app.ports, TableIdentifier.parse(table), list_id, by, sha256)
    echo(
        f"{orphans.files:,} files of {format_size(orphans.bytes)} may be removed until "
        f"{format_instant(orphans.expires_at)}, approved by {by}"
    )
    echo(describe_removal(orphans))


@orphans_app.command()
def reject(table: TableName, list_id: ListId, by: By = DEFAULT_BY, config: Config = None) -> None:
    """Reject deletion of the files in a list, even if it was approved before."""
    with open_app(load(config)) as app:
        orphans = reject_list(app.ports, TableIdentifier.parse(table), list_id, by)
    echo(f"list {orphans.list_id} is rejected by {by}: none of its files will be removed")


@orphans_app.command()
def restore(table: TableName, list_id: ListId, by: By = DEFAULT_BY, config: Config = None) -> None:
    """Restore the files of a list from quarantine: by the next job, or now by `maintainer run
    TABLE --action remove_orphan_files`.
    """
    with open_app(load(config)) as app:
        orphans = restore_list(app.ports, TableIdentifier.parse(table), list_id, by)
    echo(
        f"the next job on {orphans.table} restores the {orphans.removed_files:,} files of list "
        f"{orphans.list_id}, requested by {by}"
    )
