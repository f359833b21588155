import { Button, Modal, Textarea } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { ErrorNotice } from "./notices";

const MAX_REASON = 500;

interface PauseDialogProps {
  /** The name of what is paused, for the title. */
  name: string;
  /** What the pause stops, and what goes on. */
  children: ReactNode;
  pause: {
    mutate: (reason: string, options: { onSuccess: () => void }) => void;
    isPending: boolean;
    error: Error | null;
  };
  isOpen: boolean;
  onClose: () => void;
}

/** Asks for a reason, then pauses. */
export function PauseDialog({ name, children, pause, isOpen, onClose }: PauseDialogProps) {
  const [reason, setReason] = useState("");
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={`Pause ${name}`}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <div className="stack">
        {children}
        <Textarea
          label="Reason"
          description="Shown where it is paused"
          maxLength={MAX_REASON}
          autosize={false}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
        {pause.error && <ErrorNotice error={pause.error} />}
        <div className="actions">
          <Button
            variant="filled"
            loading={pause.isPending}
            onClick={() => pause.mutate(reason, { onSuccess: onClose })}
          >
            Pause
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </div>
    </Modal>
  );
}
