import { Button } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { lazy, Suspense, useState } from "react";
import { focusRow } from "../lib/rowKeys";

const KeyDialog = lazy(() =>
  import("./KeyDialog").then(({ KeyDialog: dialog }) => ({ default: dialog })),
);

/** Opens the list of keys, and lets `j` and `k` go through the rows of the page. */
export function KeyButton() {
  const [isOpen, setOpen] = useState(false);
  const open = () => setOpen(true);
  // None of them acts in a field; Mantine leaves those out.
  useHotkeys([
    ["j", () => focusRow(1)],
    ["k", () => focusRow(-1)],
    // Keyboards differ in whether the question mark needs Shift.
    ["?", open],
    ["shift+?", open],
  ]);
  return (
    <>
      <Button onClick={open} aria-keyshortcuts="?">
        Keys
      </Button>
      {isOpen && (
        <Suspense>
          <KeyDialog onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
