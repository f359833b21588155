import { Link } from "@tanstack/react-router";
import { locateTable } from "../lib/identifier";

/** A table's full name, leading to its page. */
export function TableLink({ name }: { name: string }) {
  const path = locateTable(name);
  if (!path) return <span className="mono">{name}</span>;
  return (
    <Link to="/tables/$catalog/$namespace/$table" params={{ ...path }}>
      {name}
    </Link>
  );
}
