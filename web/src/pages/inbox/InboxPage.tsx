import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { inboxQuery } from "../../api/inbox";
import { InboxList } from "../../components/InboxList";
import { Loaded } from "../../components/notices";
import { Panel } from "../../components/Panel";
import { pluralize } from "../../lib/format";

const LIST_HEIGHT = 300;

/** Everything that only a person can settle. */
export function InboxPage() {
  useDocumentTitle("Inbox – iceberg-maintainer");
  const inbox = useQuery(inboxQuery);
  return (
    <div className="stack">
      <div className="row row-apart">
        <h1>Inbox</h1>
        <span className="dim" aria-live="polite">
          {inbox.data && pluralize(inbox.data.total, "entry", "entries")}
        </span>
      </div>
      <Panel title="What needs a person">
        <Loaded query={inbox} label="the inbox" height={LIST_HEIGHT}>
          {({ items }) => <InboxList entries={items} />}
        </Loaded>
      </Panel>
    </div>
  );
}
