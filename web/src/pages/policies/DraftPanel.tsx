import { Button } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { policiesQuery, useTryOut, useValidatePolicy, type Draft } from "../../api/policies";
import { ErrorNotice, Notice } from "../../components/notices";
import { Panel } from "../../components/Panel";
import { ProblemList } from "../../components/ProblemList";
import { SuggestInput } from "../../components/SuggestInput";
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

/** A policy file in the making: checked, tried out on the fleet, and taken away. */
export function DraftPanel() {
  const layers = useQuery(policiesQuery).data?.layers ?? [];
  const check = useValidatePolicy();
  const trial = useTryOut();
  const clipboard = useClipboard();
  const [draft, setDraft] = useState<Draft>({ yaml: EXAMPLE, name: "" });
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
