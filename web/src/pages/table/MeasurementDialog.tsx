import { Button, Modal, NumberInput, TextInput } from "@mantine/core";
import { useState } from "react";
import { useAddMeasurement } from "../../api/queries";
import type { TablePath } from "../../api/types";
import { ErrorNotice } from "../../components/notices";

const MAX_NAME = 200;

/** Takes how long a query took just now; its name tells which runs are compared. */
export function MeasurementDialog({
  path,
  isOpen,
  onClose,
}: {
  path: TablePath;
  isOpen: boolean;
  onClose: () => void;
}) {
  const add = useAddMeasurement(path);
  const [name, setName] = useState("");
  const [seconds, setSeconds] = useState<number | string>("");
  const isWhole = name.trim() !== "" && typeof seconds === "number" && seconds > 0;
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={`A query on ${path.table}`}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (isWhole) add.mutate({ name: name.trim(), seconds }, { onSuccess: onClose });
        }}
      >
        <p>
          Time the same query before and after a compaction: from two sizes of files on, your own
          figures replace the published estimate.
        </p>
        <TextInput
          label="Query"
          description="What you call it; runs of one name are compared"
          maxLength={MAX_NAME}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <NumberInput
          label="Seconds"
          description="How long it took just now"
          min={0}
          hideControls
          value={seconds}
          onChange={setSeconds}
        />
        {add.error && <ErrorNotice error={add.error} />}
        <div className="actions">
          <Button type="submit" variant="filled" disabled={!isWhole} loading={add.isPending}>
            Keep
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Modal>
  );
}
