import { Button } from "@mantine/core";
import { useTryTargets } from "../../api/fleet";
import { Grid } from "../../components/Grid";
import { ErrorNotice } from "../../components/notices";
import { Panel } from "../../components/Panel";

/** Tries the targets of notifications, which only the daemon knows. */
export function TargetPanel() {
  const tried = useTryTargets();
  const targets = tried.data?.items;
  return (
    <Panel
      title="Notifications"
      aside={
        <Button loading={tried.isPending} onClick={() => tried.mutate()}>
          Send a test message
        </Button>
      }
    >
      {tried.error && <ErrorNotice error={tried.error} />}
      {!targets && <p className="dim">Each target gets one message; the limits do not apply.</p>}
      {targets?.length === 0 && <p>No target is configured: nothing was sent.</p>}
      {targets && targets.length > 0 && (
        <Grid label="Targets" headings={["Target", "Test message"]}>
          {targets.map(({ name, is_received: isReceived }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{isReceived ? "Received" : "Refused; the daemon’s log says more"}</td>
            </tr>
          ))}
        </Grid>
      )}
    </Panel>
  );
}
