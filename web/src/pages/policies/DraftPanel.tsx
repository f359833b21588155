import { Button } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  policiesQuery,
  suggestedPolicyQuery,
  useTryOut,
  useValidatePolicy,
  type Draft,
} from "../../api/policies";
import type { TablePath } from "../../api/types";
import { ErrorNotice, Loaded, Notice } from "../../components/notices";
import { Panel } from "../../components/Panel";
import { ProblemList } from "../../components/ProblemList";
import { SuggestInput } from "../../components/SuggestInput";
import { TablePicker } from "../../components/TablePicker";
import { locateTable } from "../../lib/identifier";
import { PolicyEditor } from "./PolicyEditor";
import { TrialResult } from "./TrialResult";

const EXAMPLE = `tables: lake.sales.*
mode: observe
rules:
  rewrite_data_files:
    when: {average_file_size_below: 32MiB}
`;

function download({ yaml, name }: Draft): void {
  const address = URL.createObjectURL(new Blob([yaml], { type: "application/yaml" }));
  const link = Object.assign(document.createElement("a"), {
    href: address,
    download: name || "policy.yaml",
  });
  link.click();
  URL.revokeObjectURL(address);
}

/** A draft that begins with what the table's own history suggests. */
function SuggestedDraft({ path }: { path: TablePath }) {
  const suggested = useQuery(suggestedPolicyQuery(path));
  return (
    <Loaded query={suggested} label="the suggested policy">
      {({ yaml }) => <DraftForm initial={yaml} />}
    </Loaded>
  );
}

/** A policy file in the making, from a table's history or from an example. */
export function DraftPanel({
  table,
  onChoose,
}: {
  table: string;
  onChoose: (table: string) => void;
}) {
  const path = locateTable(table);
  return (
    <div className="stack">
      <TablePicker label="Suggest a policy from the history of" value={table} onChoose={onChoose} />
      {path ? <SuggestedDraft key={table} path={path} /> : <DraftForm initial={EXAMPLE} />}
    </div>
  );
}

/** It is checked, tried out on the fleet, and taken away. */
function DraftForm({ initial }: { initial: string }) {
  const layers = useQuery(policiesQuery).data?.layers ?? [];
  const check = useValidatePolicy();
  const trial = useTryOut();
  const clipboard = useClipboard();
  const [draft, setDraft] = useState<Draft>({ yaml: initial, name: "" });
  const edit = (change: Partial<Draft>) => {
    setDraft({ ...draft, ...change });
    check.reset();
    trial.reset();
  };
  const tryOut = () =>
    check.mutate(draft.yaml, { onSuccess: ({ is_valid }) => is_valid && trial.mutate({ draft }) });
  const isEmpty = draft.yaml.trim() === "";
  return (
    <Panel title="Draft" aside={<span className="dim">nothing is stored</span>}>
      <div className="stack-tight">
        <SuggestInput
          label="File"
          placeholder="a new file; or the name of the file that it replaces"
          value={draft.name}
          suggestions={layers.map(({ name }) => name)}
          onChoose={(name) => edit({ name })}
        />
        <PolicyEditor value={draft.yaml} onChange={(yaml) => edit({ yaml })} />
        <div className="row">
          <Button
            variant="filled"
            disabled={isEmpty}
            loading={check.isPending || trial.isPending}
            onClick={tryOut}
          >
            Try out on the fleet
          </Button>
          <Button disabled={isEmpty} onClick={() => clipboard.copy(draft.yaml)}>
            {clipboard.copied ? "Copied" : "Copy"}
          </Button>
          <Button disabled={isEmpty} onClick={() => download(draft)}>
            Download
          </Button>
        </div>
        {check.error && <ErrorNotice error={check.error} />}
        {trial.error && <ErrorNotice error={trial.error} />}
        {check.data?.is_valid === false && (
          <Notice tone="critical" title="The policy is invalid">
            <ProblemList problems={check.data.problems} />
          </Notice>
        )}
        {trial.data && (
          <TrialResult
            result={trial.data}
            isGoingOn={trial.isPending}
            onGoOn={(after) => trial.mutate({ draft, after })}
          />
        )}
      </div>
    </Panel>
  );
}
