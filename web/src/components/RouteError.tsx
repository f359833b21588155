import { Link, useRouter, type ErrorComponentProps } from "@tanstack/react-router";
import { Empty, ErrorNotice } from "./notices";

export function NotFound() {
  return (
    <Empty title="There is no such page">
      <Link to="/">To the list of tables</Link>
    </Empty>
  );
}

/** A page that broke while it was drawn: the others stay in reach. */
export function RouteError({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  return (
    <ErrorNotice
      error={error instanceof Error ? error : new Error(String(error))}
      onRetry={() => {
        reset();
        void router.invalidate();
      }}
    />
  );
}
