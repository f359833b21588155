import { Button } from "@mantine/core";
import { useEffect } from "react";
import { isAnswering, useConnection } from "../api/connection";
import { Notice } from "./notices";

/** Which build this page is of: its script's name holds a hash. */
const BUILD = import.meta.url;
const RELOADED = "iceberg-maintainer-reloaded";

/** Loads the document anew, once for each build: the daemon has other files after an upgrade. */
async function reloadOnce(): Promise<void> {
  if (sessionStorage.getItem(RELOADED) === BUILD || !(await isAnswering())) return;
  sessionStorage.setItem(RELOADED, BUILD);
  location.reload();
}

/** In place of a part that could not be fetched: what is around it stays, and the part comes when the daemon answers. */
export function PartMissing() {
  const connection = useConnection();
  useEffect(() => {
    if (connection === "up") void reloadOnce();
  }, [connection]);
  return (
    <Notice tone="watch" title="This part of the page is not loaded yet">
      <p>
        {connection === "up"
          ? "The daemon may have been upgraded since this page was opened."
          : "It is loaded as soon as the daemon answers. What was open before is still there."}
      </p>
      {connection === "up" && (
        <div>
          <Button onClick={() => location.reload()}>Reload the page</Button>
        </div>
      )}
    </Notice>
  );
}
