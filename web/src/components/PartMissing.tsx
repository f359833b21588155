import { Button } from "@mantine/core";
import { useEffect } from "react";
import { isAnswering, useConnection } from "../api/connection";
import { Notice } from "./notices";

/** Identifies this page's build: its script's name contains a hash. */
const BUILD = import.meta.url;
const RELOADED = "iceberg-maintainer-reloaded";

/** Reloads the document once for each build: after an upgrade the daemon serves other files. */
async function reloadOnce(): Promise<void> {
  if (sessionStorage.getItem(RELOADED) === BUILD || !(await isAnswering())) return;
  sessionStorage.setItem(RELOADED, BUILD);
  location.reload();
}

/** Shown instead of a part that could not be loaded; the part loads when the daemon answers. */
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
          : "It loads as soon as the daemon answers. The rest of the page stays usable."}
      </p>
      {connection === "up" && (
        <div>
          <Button onClick={() => location.reload()}>Reload the page</Button>
        </div>
      )}
    </Notice>
  );
}
