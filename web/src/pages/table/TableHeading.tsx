import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useMeasureNow, usePause, useResume } from "../../api/queries";
import type { TableDetail, TablePath } from "../../api/types";
import { TableBadges } from "../../components/badges";
import { ErrorNotice, Notice } from "../../components/notices";
import { PauseDialog } from "../../components/PauseDialog";
import { RoleButton } from "../../components/RoleButton";
import { TimeAgo } from "../../components/TimeAgo";
import { FAULT_WORDS, humanize, MODE_WORDS } from "../../lib/words";
import { RunDialog } from "../../components/RunDialog";

/** The table's name, band, faults and actions. */
export function TableHeading({ table, path }: { table: TableDetail; path: TablePath }) {
  const [open, setOpen] = useState<"run" | "pause" | null>(null);
  const measure = useMeasureNow(path);
  const pause = usePause(path);
  const resume = useResume(path);
  return (
    <div className="stack-tight">
      <nav className="crumbs" aria-label="Breadcrumb">
        <Link to="/tables">Tables</Link> /{" "}
        <Link to="/tables" search={{ catalog: table.catalog }}>
          {table.catalog}
        </Link>{" "}
        /{" "}
        <Link to="/tables" search={{ catalog: table.catalog, namespace: table.namespace }}>
          {table.namespace}
        </Link>
      </nav>
      <div className="row row-apart">
        <div className="row">
          <h1>{table.name}</h1>
          <TableBadges table={table} large />
        </div>
        <div className="actions">
          <RoleButton
            role="operator"
            table={table.table}
            variant="filled"
            onClick={() => setOpen("run")}
          >
            Run now…
          </RoleButton>
          <RoleButton
            role="operator"
            table={table.table}
            loading={measure.isPending}
            onClick={() => measure.mutate()}
          >
            Measure now
          </RoleButton>
          {table.pause ? (
            <RoleButton
              role="operator"
              table={table.table}
              loading={resume.isPending}
              onClick={() => resume.mutate()}
            >
              Resume
            </RoleButton>
          ) : (
            <RoleButton role="operator" table={table.table} onClick={() => setOpen("pause")}>
              Pause…
            </RoleButton>
          )}
        </div>
      </div>
      <p className="dim">
        Measured <TimeAgo time={table.measured_at} />
        {table.snapshot_id && (
          <>
            {" "}
            at snapshot <span className="mono">{table.snapshot_id}</span>
          </>
        )}
        {" · "}
        {table.pause ? `${humanize(table.policy.mode)}, paused` : MODE_WORDS[table.policy.mode]}
      </p>
      {table.fault && (
        <Notice tone="critical" title={FAULT_WORDS[table.fault.kind]}>
          <p>
            {table.fault.reason}{" "}
            <span className="dim">
              (seen <TimeAgo time={table.fault.seen_at} />)
            </span>
          </p>
          {table.measured_at && (
            <p>The figures below are from the last scan that could measure the table.</p>
          )}
        </Notice>
      )}
      {table.pause && (
        <Notice tone="neutral" title="Paused">
          <p>
            By {table.pause.by}, <TimeAgo time={table.pause.at} />
            {table.pause.reason && `: ${table.pause.reason}`}. Nothing new starts until it is
            resumed.
          </p>
        </Notice>
      )}
      {measure.error && <ErrorNotice error={measure.error} />}
      {resume.error && <ErrorNotice error={resume.error} />}
      <RunDialog path={path} isOpen={open === "run"} onClose={() => setOpen(null)} />
      <PauseDialog
        name={path.table}
        pause={pause}
        isOpen={open === "pause"}
        onClose={() => setOpen(null)}
      >
        <p>
          Nothing new starts on this table until it is resumed. A running job finishes, and the
          table is still measured.
        </p>
      </PauseDialog>
    </div>
  );
}
