import { Button, Modal, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import {
  orphanListQuery,
  orphanListsQuery,
  useDecideOnOrphans,
  type OrphanVerb,
} from "../../../api/queries";
import { useSession } from "../../../api/session";
import type { OrphanList, TablePath } from "../../../api/types";
import { Grid } from "../../../components/Grid";
import { ErrorNotice, Loaded, Notice } from "../../../components/notices";
import { RoleButton } from "../../../components/RoleButton";
import { Panel } from "../../../components/Panel";
import { TimeAgo } from "../../../components/TimeAgo";
import { formatBytes, formatCount, pluralize } from "../../../lib/format";
import { ORPHAN_STATE_WORDS } from "../../../lib/words";

const LISTS_SHOWN = 5;
const MAX_NAME = 200;

/** The orphan lists of a table: their state, and who decided. */
export function OrphanPanel({ path }: { path: TablePath }) {
  const lists = useQuery(orphanListsQuery(path)).data?.items ?? [];
  const [looksAt, setLooksAt] = useState<string>();
  if (lists.length === 0) return null;
  return (
    <Panel title="Orphan files">
      <Grid
        label="Orphan files, lists"
        headings={["Found", { figures: "Files" }, { figures: "Size" }, "State", "Contents"]}
      >
        {lists.slice(0, LISTS_SHOWN).map((list) => (
          <tr key={list.list_id}>
            <td>
              <TimeAgo time={list.made_at} />
            </td>
            <td className="num">{formatCount(list.files)}</td>
            <td className="num">{formatBytes(list.bytes)}</td>
            <td>
              <StateWords list={list} />
            </td>
            <td>
              <Button onClick={() => setLooksAt(list.list_id)}>Files</Button>
            </td>
          </tr>
        ))}
      </Grid>
      <Modal
        opened={looksAt !== undefined}
        onClose={() => setLooksAt(undefined)}
        size="xl"
        title={`Orphan files of ${path.table}`}
        closeButtonProps={{ "aria-label": "Close" }}
      >
        {looksAt !== undefined && (
          <ListedFiles path={path} listId={looksAt} onClose={() => setLooksAt(undefined)} />
        )}
      </Modal>
    </Panel>
  );
}

function StateWords({ list }: { list: OrphanList }) {
  const by = list.decided_by && <span className="dim"> by {list.decided_by}</span>;
  return (
    <>
      {list.is_expired
        ? `${ORPHAN_STATE_WORDS[list.state]}, expired`
        : ORPHAN_STATE_WORDS[list.state]}
      {by}
      {list.removed_by && (
        <div className="dim">
          {pluralize(list.removed_files, "file")} of {formatBytes(list.removed_bytes)},{" "}
          <Link to="/jobs/$id" params={{ id: list.removed_by }}>
            job {list.removed_by}
          </Link>
        </div>
      )}
      {(list.refusal ?? list.warning) && <div className="dim">{list.refusal ?? list.warning}</div>}
    </>
  );
}

/** The files of a list, with the decision that is open. */
export function ListedFiles({
  path,
  listId,
  onClose,
}: {
  path: TablePath;
  listId: string;
  onClose: () => void;
}) {
  const found = useQuery(orphanListQuery(path, listId));
  return (
    <Loaded query={found} label="the list">
      {({ list, files }) => (
        <div className="stack">
          <p>
            {pluralize(list.files, "file")} of {formatBytes(list.bytes)} in{" "}
            <code>{list.location}</code> that the table does not reference
            {list.files > files.length && `; the first ${formatCount(files.length)}:`}
          </p>
          <Grid label="Files on the list">
            {files.map((file) => (
              <tr key={file.path}>
                <td className="num">{formatBytes(file.size_bytes)}</td>
                <td>{file.modified_at && <TimeAgo time={file.modified_at} />}</td>
                <td>
                  <code>{file.path}</code>
                </td>
              </tr>
            ))}
          </Grid>
          {list.warning && (
            <Notice tone="watch" title="Check the list before you approve it">
              {list.warning}
            </Notice>
          )}
          {list.state === "waiting" && !list.is_expired && (
            <Decision path={path} list={list} verbs={["approve", "reject"]} onClose={onClose}>
              {list.on_approval}
            </Decision>
          )}
          {list.state === "quarantined" && (
            <Decision path={path} list={list} verbs={["restore"]} onClose={onClose}>
              The files are in quarantine and will be deleted <TimeAgo time={list.expires_at} />.
              After “Restore”, the next job on the table moves them back.
            </Decision>
          )}
        </div>
      )}
    </Loaded>
  );
}

const VERB_WORDS: Record<OrphanVerb, string> = {
  approve: "Approve",
  reject: "Reject",
  restore: "Restore",
};

interface DecisionProps {
  path: TablePath;
  list: OrphanList;
  verbs: readonly [OrphanVerb, ...OrphanVerb[]];
  onClose: () => void;
  children: ReactNode;
}

function Decision({ path, list, verbs, onClose, children }: DecisionProps) {
  const decide = useDecideOnOrphans(path, list);
  const [by, setBy] = useState("");
  const session = useSession();
  const name = session?.name ?? by.trim();
  const isNamed = name !== "";
  const say = (verb: OrphanVerb) => {
    // The list is read again first, and this form goes with its decision: a callback of `mutate`
    // would not be called any more. An error is shown above the buttons.
    decide.mutateAsync({ verb, by: name }).then(onClose, () => undefined);
  };
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (isNamed) say(verbs[0]);
      }}
    >
      {!session?.name && (
        <TextInput
          label="Your name"
          description="For the audit log"
          maxLength={MAX_NAME}
          value={by}
          onChange={(event) => setBy(event.currentTarget.value)}
        />
      )}
      <p className="dim">{children}</p>
      {decide.error && <ErrorNotice error={decide.error} />}
      <div className="actions">
        {verbs.map((verb, index) => (
          <RoleButton
            key={verb}
            role="approver"
            table={[path.catalog, path.namespace, path.table].join(".")}
            variant={index === 0 ? "filled" : "default"}
            disabled={!isNamed}
            loading={decide.isPending}
            onClick={() => say(verb)}
          >
            {VERB_WORDS[verb]}
          </RoleButton>
        ))}
      </div>
    </form>
  );
}
