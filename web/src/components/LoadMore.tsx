import { Button } from "@mantine/core";
import type { ReactNode } from "react";

interface LoadMoreProps {
  /** The pages of the list. */
  query: {
    hasNextPage: boolean;
    isFetchingNextPage: boolean;
    fetchNextPage: () => Promise<unknown>;
  };
  /** What is said beside the button, such as how much is shown. */
  shown?: ReactNode;
  /** The words on the button. */
  words?: string;
}

/** The end of a list of which only the first pages were loaded; nothing when all were. */
export function LoadMore({ query, shown, words = "Load more" }: LoadMoreProps) {
  if (!query.hasNextPage) return null;
  return (
    <div className="list-end">
      {shown && <span className="dim">{shown}</span>}
      <Button loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        {words}
      </Button>
    </div>
  );
}
