import { Button, Textarea } from "@mantine/core";
import { useState } from "react";
import { useValidatePolicy } from "../../api/queries";
import { ErrorNotice, Notice } from "../../components/notices";
import { Panel } from "../../components/Panel";
import { ProblemList } from "../../components/ProblemList";

const ROWS = 12;
const EXAMPLE = `tables: lake.sales.*
mode: observe
rules:
  rewrite_data_files:
    when: {average_file_size_below: 32MiB}`;

/** Checks the text of a policy file; stores nothing. */
export function Validator() {
  const check = useValidatePolicy();
  const [yaml, setYaml] = useState("");
  return (
    <Panel title="Check a policy file" aside={<span className="dim">nothing is stored</span>}>
      <form
        className="stack-tight"
        onSubmit={(event) => {
          event.preventDefault();
          check.mutate(yaml);
        }}
      >
        <Textarea
          label="Policy as YAML"
          rows={ROWS}
          spellCheck={false}
          placeholder={EXAMPLE}
          classNames={{ input: "mono" }}
          value={yaml}
          onChange={(event) => {
            setYaml(event.currentTarget.value);
            check.reset();
          }}
        />
        <div>
          <Button
            type="submit"
            variant="filled"
            disabled={yaml.trim() === ""}
            loading={check.isPending}
          >
            Check
          </Button>
        </div>
        {check.error && <ErrorNotice error={check.error} />}
        {check.data &&
          (check.data.is_valid ? (
            <Notice tone="healthy" title="The policy is valid" />
          ) : (
            <Notice tone="critical" title="The policy is invalid">
              <ProblemList problems={check.data.problems} />
            </Notice>
          ))}
      </form>
    </Panel>
  );
}
