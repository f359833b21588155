import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { inboxQuery } from "../../api/inbox";
import { InboxList } from "../../components/InboxList";
import { Panel } from "../../components/Panel";
import { pluralize } from "../../lib/format";

const SHOWN = 3;

/** The most pressing entries of the inbox; nothing when it is empty. */
export function NeedsYou() {
  const inbox = useQuery(inboxQuery).data;
  if (!inbox || inbox.total === 0) return null;
  return (
    <Panel
      title="Needs you"
      aside={<Link to="/inbox">{pluralize(inbox.total, "entry", "entries")} in the inbox</Link>}
    >
      <InboxList entries={inbox.items.slice(0, SHOWN)} />
    </Panel>
  );
}
