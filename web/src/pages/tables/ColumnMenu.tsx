import { Button, Checkbox, Modal } from "@mantine/core";
import { useState } from "react";
import {
  DEFAULT_COLUMNS,
  TABLE_COLUMNS,
  writeColumns,
  type TableColumn,
} from "../../lib/tableColumns";

interface ColumnMenuProps {
  columns: readonly TableColumn[];
  /** Gets them as in an address. */
  onChange: (columns: string | undefined) => void;
}

/** Chooses the columns of the list of tables. */
export function ColumnMenu({ columns, onChange }: ColumnMenuProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>Columns…</Button>
      <Modal
        opened={isOpen}
        onClose={() => setOpen(false)}
        title="Columns"
        closeButtonProps={{ "aria-label": "Close" }}
      >
        <div className="stack">
          <Checkbox.Group
            aria-label="Columns of the list"
            value={[...columns]}
            onChange={(chosen) => onChange(writeColumns(chosen))}
          >
            <div className="stack-tight">
              {Object.entries(TABLE_COLUMNS).map(([name, { label }]) => (
                <Checkbox key={name} value={name} label={label} />
              ))}
            </div>
          </Checkbox.Group>
          <div className="row">
            <Button onClick={() => onChange(writeColumns(DEFAULT_COLUMNS))}>Reset</Button>
            <Button onClick={() => setOpen(false)}>Done</Button>
          </div>
        </div>
      </Modal>
    </>
  );
}
