import { Link } from "@tanstack/react-router";

/** Leads to a table's way back to health, on the page of reports. */
export function RescueLink({ table }: { table: string }) {
  return (
    <Link to="/reports" search={{ table }} hash="rescue" aria-label={`Rescue plan: ${table}`}>
      Rescue plan
    </Link>
  );
}
