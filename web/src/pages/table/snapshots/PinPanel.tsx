import { useQuery } from "@tanstack/react-query";
import { pinsQuery, useUnpin } from "../../../api/snapshots";
import type { TablePath } from "../../../api/types";
import { Grid } from "../../../components/Grid";
import { Empty, ErrorNotice, Loaded } from "../../../components/notices";
import { Panel } from "../../../components/Panel";
import { RoleButton } from "../../../components/RoleButton";
import { TimeAgo } from "../../../components/TimeAgo";

/** Who keeps which snapshot: pins, and what else protects snapshots from expiry. */
export function PinPanel({ table, path }: { table: string; path: TablePath }) {
  const pins = useQuery(pinsQuery(path));
  const unpin = useUnpin(path);
  return (
    <Panel title="Pins that keep snapshots">
      {unpin.error && <ErrorNotice error={unpin.error} />}
      <Loaded query={pins} label="the pins">
        {(list) =>
          list.pins.length + list.keepers.length === 0 ? (
            <Empty title="No pin keeps an old snapshot">
              “Pin…” protects a snapshot and all newer ones from expiry.
            </Empty>
          ) : (
            <div className="stack">
              <ul className="findings">
                {list.keepers.map((keeper) => (
                  <li key={keeper.reason}>
                    {keeper.reason}, from <TimeAgo time={keeper.committed_at} /> on
                  </li>
                ))}
              </ul>
              {list.pins.length > 0 && (
                <Grid label="Pins" headings={["Pin", "By", "Ends", "Remove"]}>
                  {list.pins.map((pin) => (
                    <tr key={pin.name}>
                      <th scope="row">{pin.name}</th>
                      <td>{pin.by}</td>
                      <td>
                        {pin.until ? <TimeAgo time={pin.until} /> : "when it is removed"}
                        {!pin.is_held && <div className="dim">protects nothing</div>}
                      </td>
                      <td>
                        <RoleButton
                          role="operator"
                          table={table}
                          aria-label={`Remove pin ${pin.name}`}
                          loading={unpin.isPending}
                          onClick={() => unpin.mutate(pin.name)}
                        >
                          Remove
                        </RoleButton>
                      </td>
                    </tr>
                  ))}
                </Grid>
              )}
            </div>
          )
        }
      </Loaded>
    </Panel>
  );
}
