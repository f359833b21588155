import { Button, Modal, NativeSelect, TextInput } from "@mantine/core";
import { useState } from "react";
import { usePin } from "../../../api/snapshots";
import type { Snapshot, TablePath } from "../../../api/types";
import { ErrorNotice } from "../../../components/notices";
import { TimeAgo } from "../../../components/TimeAgo";

const MAX_NAME = 100;
const DAY_MS = 86_400_000;
const DURATIONS = [
  { value: "", label: "until it is removed" },
  { value: "7", label: "7 days" },
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
];

interface PinDialogProps {
  path: TablePath;
  snapshot: Snapshot;
  onClose: () => void;
}

/** Keeps a snapshot and all newer ones from expiry. */
export function PinDialog({ path, snapshot, onClose }: PinDialogProps) {
  const pin = usePin(path);
  const [name, setName] = useState("");
  const [days, setDays] = useState("30");
  const keep = () => {
    const until = days ? new Date(Date.now() + Number(days) * DAY_MS).toISOString() : null;
    pin.mutate({ name, snapshot_id: snapshot.snapshot_id, until }, { onSuccess: onClose });
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title="Pin this snapshot?"
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          keep();
        }}
      >
        <p>
          Snapshot <span className="mono">{snapshot.snapshot_id}</span>, committed{" "}
          <TimeAgo time={snapshot.committed_at} />, and all newer ones stay. Expiry removes only
          older ones. The pin does not change the table.
        </p>
        <TextInput
          label="Name"
          description="Who or what needs the snapshot: letters, digits, dots, dashes, underscores"
          maxLength={MAX_NAME}
          pattern="[A-Za-z0-9._\-]+"
          required
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <NativeSelect
          label="For"
          data={DURATIONS}
          value={days}
          onChange={(event) => setDays(event.currentTarget.value)}
        />
        {pin.error && <ErrorNotice error={pin.error} />}
        <div className="actions">
          <Button type="submit" variant="filled" loading={pin.isPending} disabled={name === ""}>
            Pin
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Modal>
  );
}
