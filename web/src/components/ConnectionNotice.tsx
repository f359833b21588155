import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useConnection, type Connection } from "../api/connection";
import { overviewQuery } from "../api/fleet";
import { formatClock } from "../lib/time";
import { Notice } from "./notices";

const TITLES = { down: "The daemon does not answer", offline: "This browser is offline" } as const;

/** Says that the page is out of date, and since when. */
export function ConnectionNotice() {
  const connection = useConnection();
  const [last, setLast] = useState<{ connection: Connection; at: string }>({
    connection: "up",
    at: "",
  });
  if (last.connection !== connection) setLast({ connection, at: new Date().toISOString() });
  if (connection === "up") return null;
  return (
    <Notice tone="critical" title={TITLES[connection]}>
      <p>
        Since {formatClock(last.at)}. This page shows older data. It updates
        {connection === "down" ? " when the daemon answers." : " when the network is back."}
      </p>
    </Notice>
  );
}

/** After an upgrade an open tab still shows the old page. */
export function UpgradeNotice() {
  const version = useQuery(overviewQuery).data?.version;
  const [first, setFirst] = useState(version);
  if (first === undefined && version !== undefined) setFirst(version);
  if (first === undefined || version === undefined || first === version) return null;
  return (
    <Notice tone="neutral" title={`The daemon now has version ${version}`}>
      <p>This page belongs to version {first}.</p>
      <div>
        <Button onClick={() => location.reload()}>Reload the page</Button>
      </div>
    </Notice>
  );
}
