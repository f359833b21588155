import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { expiryQuery, snapshotsQuery } from "../../../api/snapshots";
import type { Snapshot, SnapshotList, TablePath } from "../../../api/types";
import { Chart } from "../../../components/Chart";
import { Grid } from "../../../components/Grid";
import { Empty, Loaded, Notice } from "../../../components/notices";
import { Panel } from "../../../components/Panel";
import { RoleButton } from "../../../components/RoleButton";
import { Statement } from "../../../components/Statement";
import { TimeAgo } from "../../../components/TimeAgo";
import { capitalize, pluralize } from "../../../lib/format";
import type { Palette } from "../../../lib/palette";
import { drawSnapshots } from "../../../lib/snapshotChart";
import { PinDialog } from "./PinDialog";

const ROWS = 12;
const MORE_ROWS = 50;

function Axis({ list }: { list: SnapshotList }) {
  const option = useCallback((palette: Palette) => drawSnapshots(list.items, palette), [list]);
  const going = list.items.filter((each) => each.expires).length;
  const label = `${pluralize(list.total, "snapshot")} over time; ${going} of those shown would expire`;
  return <Chart label={label} option={option} />;
}

/** The daemon's sentence on the next run of expiry, and its statement. */
function Expiry({ path }: { path: TablePath }) {
  const expiry = useQuery(expiryQuery(path));
  return (
    <Loaded query={expiry} label="what expiry would take" height={60}>
      {({ sentence, refusal, action }) => (
        <div className="stack-tight">
          <p>{capitalize(sentence)}.</p>
          {refusal && (
            <Notice tone="watch" title="Nothing expires">
              {capitalize(refusal)}.
            </Notice>
          )}
          <details>
            <summary>Statement</summary>
            <Statement sql={action} />
          </details>
        </div>
      )}
    </Loaded>
  );
}

interface SnapshotRowsProps {
  snapshots: Snapshot[];
  table: string;
  onPin: (snapshot: Snapshot) => void;
}

function SnapshotRows({ snapshots, table, onPin }: SnapshotRowsProps) {
  const [count, setCount] = useState(ROWS);
  return (
    <>
      <Grid
        label="Snapshots, newest first"
        headings={["Committed", "Snapshot", "Held by", "Expiry", "Keep"]}
      >
        {snapshots.slice(0, count).map((each) => (
          <tr key={each.snapshot_id}>
            <th scope="row">
              <TimeAgo time={each.committed_at} />
            </th>
            <td className="mono">{each.snapshot_id}</td>
            <td>
              {[...each.refs, ...each.pins.map((pin) => `pin ${pin}`)].join(", ") || each.role}
            </td>
            <td className={each.expires ? "" : "dim"}>{each.expires ? "would expire" : "stays"}</td>
            <td>
              <RoleButton
                role="operator"
                table={table}
                aria-label={`Pin snapshot ${each.snapshot_id}…`}
                onClick={() => onPin(each)}
              >
                Pin…
              </RoleButton>
            </td>
          </tr>
        ))}
      </Grid>
      {snapshots.length > count && (
        <div className="list-end">
          <Button onClick={() => setCount(count + MORE_ROWS)}>Earlier</Button>
        </div>
      )}
    </>
  );
}

/** The snapshots on a time axis and as a list, and what expiry would take. */
export function SnapshotPanel({ table, path }: { table: string; path: TablePath }) {
  const snapshots = useQuery(snapshotsQuery(path));
  const [pinned, setPinned] = useState<Snapshot>();
  return (
    <Panel
      title="Snapshots"
      aside={
        snapshots.data && <span className="dim">{pluralize(snapshots.data.total, "snapshot")}</span>
      }
    >
      <Loaded query={snapshots} label="the snapshots">
        {(list) =>
          list.items.length === 0 ? (
            <Empty title="The table has no snapshots" />
          ) : (
            <div className="stack">
              <Expiry path={path} />
              <Axis list={list} />
              <SnapshotRows snapshots={list.items} table={table} onPin={setPinned} />
            </div>
          )
        }
      </Loaded>
      {pinned && <PinDialog path={path} snapshot={pinned} onClose={() => setPinned(undefined)} />}
    </Panel>
  );
}
