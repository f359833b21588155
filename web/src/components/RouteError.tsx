import { Link, useRouter, type ErrorComponentProps } from "@tanstack/react-router";
import { PartMissingError } from "../lib/lazyPage";
import { ErrorNotice } from "./notices";
import { PartMissing } from "./PartMissing";

export function NotFound() {
  return (
    <div className="stack">
      <h1>Page not found</h1>
      <p>
        <Link to="/tables">Show the tables</Link>
      </p>
    </div>
  );
}

/** Shown when a page fails to render; the other pages still work. */
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
