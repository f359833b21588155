import type { TableDetail } from "../../../api/types";
import { Panel } from "../../../components/Panel";
import { PolicyValues } from "../../../components/PolicyValues";
import { MODE_WORDS } from "../../../lib/words";

/** The policy in force for the table. */
export function GoverningPolicy({ table }: { table: TableDetail }) {
  const { mode, priority, version, values } = table.policy;
  return (
    <Panel
      title="Policy"
      aside={
        <span className="dim">
          {MODE_WORDS[mode]} · priority {priority} · version <code>{version}</code>
        </span>
      }
    >
      <PolicyValues values={values} caption="Values of this table’s policy" />
    </Panel>
  );
}
