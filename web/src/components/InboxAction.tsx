import { Button, Modal } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useResume } from "../api/queries";
import { useRefusal } from "../api/session";
import type { InboxEntry, TablePath } from "../api/types";
import { locateTable } from "../lib/identifier";
import { ListedFiles } from "../pages/table/files/OrphanPanel";
import { RunDialog } from "./RunDialog";
import { ErrorNotice } from "./notices";

interface ActionProps {
  path: TablePath;
  /** The full name. */
  table: string;
}

function Resume({ path, table }: ActionProps) {
  const resume = useResume(path);
  if (useRefusal("operator", table) !== undefined) return null;
  return (
    <>
      <Button loading={resume.isPending} onClick={() => resume.mutate()}>
        Resume {path.table}
      </Button>
      {resume.error && <ErrorNotice error={resume.error} />}
    </>
  );
}

function Retry({ path, table }: ActionProps) {
  const [isOpen, setOpen] = useState(false);
  if (useRefusal("operator", table) !== undefined) return null;
  return (
    <>
      <Button onClick={() => setOpen(true)}>Run {path.table} again…</Button>
      {isOpen && <RunDialog path={path} isOpen onClose={() => setOpen(false)} />}
    </>
  );
}

function Review({ path, listId }: { path: TablePath; listId: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>Review the list of {path.table}…</Button>
      <Modal
        opened={isOpen}
        onClose={() => setOpen(false)}
        size="xl"
        title={`Orphan files of ${path.table}`}
        closeButtonProps={{ "aria-label": "Close" }}
      >
        {isOpen && <ListedFiles path={path} listId={listId} onClose={() => setOpen(false)} />}
      </Modal>
    </>
  );
}

/** What settles the matter, or leads to where it can be settled. */
export function InboxAction({ entry }: { entry: InboxEntry }) {
  const path = entry.table === null ? null : locateTable(entry.table);
  if (entry.kind === "policy" || entry.kind === "observed")
    return <Link to="/policies">Show the policies</Link>;
  if (path === null || entry.table === null) return null;
  switch (entry.kind) {
    case "paused":
      return (
        <>
          {entry.reference && (
            <Link to="/jobs/$id" params={{ id: entry.reference }}>
              Show the job, to undo it
            </Link>
          )}
          <Resume path={path} table={entry.table} />
        </>
      );
    case "approval":
      return <Review path={path} listId={entry.reference} />;
    case "failing":
      return (
        <>
          <Retry path={path} table={entry.table} />
          {entry.reference && (
            <Link to="/jobs/$id" params={{ id: entry.reference }}>
              Show the last job
            </Link>
          )}
        </>
      );
    default:
      return null;
  }
}
