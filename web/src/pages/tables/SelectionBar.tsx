import { Button, Modal } from "@mantine/core";
import { useState } from "react";
import { useAskEach, type Answer } from "../../api/bulk";
import { findRefusal, useSession } from "../../api/session";
import type { TableSummary } from "../../api/types";
import { Grid } from "../../components/Grid";
import { ErrorNotice } from "../../components/notices";
import { PauseDialog } from "../../components/PauseDialog";
import { RoleButton } from "../../components/RoleButton";
import { formatCount, pluralize } from "../../lib/format";

/** Each table is a request or more to the daemon, which bounds them. */
export const MAX_SELECTED = 100;

interface SelectionBarProps {
  selected: TableSummary[];
  /** How many tables are in the list and can be selected at once. */
  shown: number;
  onSelectShown: () => void;
  onEnd: () => void;
}

/** What can be done with the selected tables, and what came of it. */
export function SelectionBar({ selected, shown, onSelectShown, onEnd }: SelectionBarProps) {
  const [open, setOpen] = useState<"run" | "pause" | null>(null);
  const session = useSession();
  const asked = useAskEach(selected);
  const close = () => setOpen(null);
  const names = selected.map((table) => table.table);
  // The button says why it does not work for the first table of which that is so.
  const table = names.find((name) => findRefusal(session, "operator", name)) ?? names[0] ?? "";
  const button = {
    role: "operator",
    table,
    disabled: selected.length === 0 || asked.isPending,
  } as const;
  const count = pluralize(selected.length, "table");
  return (
    <div className="panel stack-tight" role="region" aria-label="Selected tables">
      <div className="row row-apart">
        <span aria-live="polite">
          {count} selected
          {selected.length >= MAX_SELECTED && `, the most at once`}
        </span>
        <div className="actions">
          <Button onClick={onSelectShown}>
            Select the first {formatCount(Math.min(shown, MAX_SELECTED))}
          </Button>
          <RoleButton {...button} variant="filled" onClick={() => setOpen("run")}>
            Run now…
          </RoleButton>
          <RoleButton {...button} onClick={() => asked.mutate({ verb: "measure" })}>
            Measure now
          </RoleButton>
          <RoleButton {...button} onClick={() => setOpen("pause")}>
            Pause…
          </RoleButton>
          <RoleButton {...button} onClick={() => asked.mutate({ verb: "resume" })}>
            Resume
          </RoleButton>
          <Button onClick={onEnd}>Done</Button>
        </div>
      </div>
      {asked.isPending && <p className="dim">Checking each table…</p>}
      {asked.error && <ErrorNotice error={asked.error} />}
      {asked.data && <Answers answers={asked.data} />}
      <Modal
        opened={open === "run"}
        onClose={close}
        title={`Run on ${count} now`}
        closeButtonProps={{ "aria-label": "Close" }}
      >
        <div className="stack">
          <p>
            A new plan is made for each table. What it finds worth doing starts, in any mode of the
            policy; a table with nothing to do is left as it is.
          </p>
          <Names names={names} />
          <div className="actions">
            <Button
              variant="filled"
              onClick={() => {
                asked.mutate({ verb: "run" });
                close();
              }}
            >
              Run now
            </Button>
            <Button onClick={close}>Cancel</Button>
          </div>
        </div>
      </Modal>
      <PauseDialog
        name={count}
        pause={{
          isPending: asked.isPending,
          error: null,
          mutate: (reason, { onSuccess }) => {
            asked.mutate({ verb: "pause", reason });
            onSuccess();
          },
        }}
        isOpen={open === "pause"}
        onClose={close}
      >
        <p>
          Nothing new starts on these tables until each is resumed. Running jobs finish, and the
          tables are still measured.
        </p>
        <Names names={names} />
      </PauseDialog>
    </div>
  );
}

function Names({ names }: { names: string[] }) {
  return (
    <ul className="findings names">
      {names.map((name) => (
        <li key={name}>{name}</li>
      ))}
    </ul>
  );
}

function Answers({ answers }: { answers: Answer[] }) {
  const refused = answers.filter((answer) => answer.isRefused);
  return (
    <>
      <p>
        {pluralize(answers.length - refused.length, "table")} done
        {refused.length > 0 && `, ${formatCount(refused.length)} refused`}.
      </p>
      <details open={refused.length > 0}>
        <summary>Result for each table</summary>
        <Grid label="Answers" headings={["Table", "Answer"]}>
          {[...refused, ...answers.filter((answer) => !answer.isRefused)].map((answer) => (
            <tr key={answer.table}>
              <th scope="row">{answer.table}</th>
              <td>{answer.isRefused ? `Refused: ${answer.words}` : answer.words}</td>
            </tr>
          ))}
        </Grid>
      </details>
    </>
  );
}
