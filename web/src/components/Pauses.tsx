import { Checkbox } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { EVERYTHING, pausesQuery, usePauseScope, useResumeScope } from "../api/pauses";
import type { Pauses, ScopePause } from "../api/types";
import { formatCount } from "../lib/format";
import { Grid } from "./Grid";
import { ErrorNotice, Notice } from "./notices";
import { Panel } from "./Panel";
import { PauseDialog } from "./PauseDialog";
import { RoleButton } from "./RoleButton";
import { TimeAgo } from "./TimeAgo";

/** What a session must see to act on a scope: its tables begin with this. */
const beginningOf = (scope: string) => (scope === EVERYTHING ? scope : `${scope}.`);

/** Opens the dialog that pauses a catalog, a namespace or everything. */
export function PauseButton({ scope, label = "Pause…" }: { scope: string; label?: string }) {
  const [isOpen, setOpen] = useState(false);
  const [cancels, setCancels] = useState(false);
  const pause = usePauseScope(scope, cancels);
  const name = scope === EVERYTHING ? "everything" : scope;
  return (
    <>
      <RoleButton role="operator" table={beginningOf(scope)} onClick={() => setOpen(true)}>
        {label} {label === "Pause…" && <span className="hidden">{name}</span>}
      </RoleButton>
      <PauseDialog name={name} pause={pause} isOpen={isOpen} onClose={() => setOpen(false)}>
        <p>
          Nothing new starts on {scope === EVERYTHING ? "any table" : `the tables of ${name}`} until
          it is resumed. The tables are still measured.
        </p>
        <Checkbox
          label="Also cancel the jobs that run there"
          description="Spark stops them, and what they have not committed is discarded. Without this, running jobs finish."
          checked={cancels}
          onChange={(event) => setCancels(event.currentTarget.checked)}
        />
      </PauseDialog>
    </>
  );
}

function Resume({ scope }: { scope: string }) {
  const resume = useResumeScope(scope);
  return (
    <>
      <RoleButton
        role="operator"
        table={beginningOf(scope)}
        loading={resume.isPending}
        onClick={() => resume.mutate()}
      >
        Resume <span className="hidden">{scope}</span>
      </RoleButton>
      {resume.error && <ErrorNotice error={resume.error} />}
    </>
  );
}

function Row({ pause }: { pause: ScopePause }) {
  return (
    <tr>
      <th scope="row">{pause.scope === EVERYTHING ? "everything" : pause.scope}</th>
      <td>{pause.is_drain ? "Drain" : "Pause"}</td>
      <td>{pause.by}</td>
      <td>
        <TimeAgo time={pause.at} />
      </td>
      <td className="words">{pause.reason}</td>
      <td>
        <Resume scope={pause.scope} />
      </td>
    </tr>
  );
}

export function PauseGrid({ pauses: { items, running_jobs: running } }: { pauses: Pauses }) {
  return (
    <div className="stack-tight">
      {items.length === 0 ? (
        <p>Nothing is paused.</p>
      ) : (
        <Grid
          label="Pauses in force"
          headings={["What", "Kind", "By", "Since", "Reason", "End it"]}
        >
          {items.map((pause) => (
            <Row key={pause.scope} pause={pause} />
          ))}
        </Grid>
      )}
      {running.length > 0 && (
        <p className="dim">Jobs that still run there: {formatCount(running.length)}.</p>
      )}
    </div>
  );
}

/** Says on the first page that nothing starts anywhere. */
export function PauseNotice() {
  const whole = useQuery(pausesQuery).data?.items.find((pause) => pause.scope === EVERYTHING);
  if (!whole) return null;
  return (
    <Notice tone="watch" title={whole.is_drain ? "Everything is drained" : "Everything is paused"}>
      <p>
        By {whole.by}, <TimeAgo time={whole.at} />
        {whole.reason && `: ${whole.reason}`}. Nothing new starts until it is resumed.{" "}
        <Resume scope={EVERYTHING} />
      </p>
    </Notice>
  );
}

/** Every pause in force with its end, and the button that pauses everything. */
export function PausePanel() {
  const pauses = useQuery(pausesQuery);
  return (
    <Panel title="Pauses" aside={<PauseButton scope={EVERYTHING} label="Pause everything…" />}>
      {pauses.data && <PauseGrid pauses={pauses.data} />}
      {pauses.error && <ErrorNotice error={pauses.error} />}
    </Panel>
  );
}
