import { Link, useRouter, type ErrorComponentProps } from "@tanstack/react-router";
import { PartMissingError } from "../lib/lazyPage";
import { ErrorNotice } from "./notices";
import { PartMissing } from "./PartMissing";

export function NotFound() {
  return (
    <div className="stack">
      <h1>There is no such page</h1>
      <p>
        <Link to="/">To the list of tables</Link>
      </p>
    </div>
  );
}

/** A page that broke while it was drawn: the others stay in reach. */
export function RouteError({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  if (error instanceof PartMissingError) return <PartMissing />;
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
