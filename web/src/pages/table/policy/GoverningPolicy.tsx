import { Link } from "@tanstack/react-router";
import type { PolicyValue, TableDetail } from "../../../api/types";
import { Grid } from "../../../components/Grid";
import { Empty } from "../../../components/notices";
import { Panel } from "../../../components/Panel";
import { PolicyValues } from "../../../components/PolicyValues";
import { ProblemList } from "../../../components/ProblemList";
import { pluralize } from "../../../lib/format";
import { MODE_WORDS, RULE_WORDS } from "../../../lib/words";

function Differences({ values }: { values: PolicyValue[] }) {
  if (values.length === 0)
    return <Empty title="No file sets anything for this table: all values are built in" />;
  return (
    <Grid
      label="Values of this table’s policy that differ from the built-in ones"
      headings={["Setting", "Value", "Built in", "Set by"]}
    >
      {values.map((value) => (
        <tr key={value.path}>
          <th scope="row" className="mono">
            {value.path}
          </th>
          <td className="mono">
            {value.value === value.built_in ? value.value : <strong>{value.value}</strong>}
          </td>
          <td className="mono dim">{value.built_in ?? "none"}</td>
          <td className="mono dim">{value.source}</td>
        </tr>
      ))}
    </Grid>
  );
}

/** The policy in force for the table, as its differences from what is built in. */
export function GoverningPolicy({ table }: { table: TableDetail }) {
  const { mode, priority, version, values, rules, problems = [] } = table.policy;
  const builtIn = values.filter((value) => value.is_built_in);
  return (
    <Panel
      title="Policy"
      aside={
        <span className="dim">
          {MODE_WORDS[mode]} · priority {priority} · version <code>{version}</code>
        </span>
      }
    >
      <div className="stack">
        {problems.length > 0 && <ProblemList problems={problems} />}
        <p>
          <span className="dim">Rules: </span>
          {rules.length > 0 ? rules.map((rule) => RULE_WORDS[rule]).join(", ") : "none"}
        </p>
        <Differences values={values.filter((value) => !value.is_built_in)} />
        <p>
          <Link to="/policies" search={{ tab: "draft", table: table.table }}>
            Suggest a policy from this table’s history
          </Link>
        </p>
        {builtIn.length > 0 && (
          <details>
            <summary>{pluralize(builtIn.length, "built-in value")}</summary>
            <PolicyValues values={builtIn} caption="Built-in values of this table’s policy" />
          </details>
        )}
      </div>
    </Panel>
  );
}
