import { Button } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { lazy, Suspense, useState } from "react";

const SearchDialog = lazy(() =>
  import("./SearchDialog").then(({ SearchDialog: dialog }) => ({ default: dialog })),
);

/** Opens the search over everything; so do `/` and Ctrl+K. */
export function SearchButton() {
  const [isOpen, setOpen] = useState(false);
  const open = () => setOpen(true);
  useHotkeys([
    ["/", open],
    ["mod+K", open],
  ]);
  return (
    <>
      <Button onClick={open} aria-keyshortcuts="/ Control+K">
        Search
      </Button>
      {isOpen && (
        <Suspense>
          <SearchDialog onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
