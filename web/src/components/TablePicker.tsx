import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { tableNamesQuery } from "../api/queries";
import { SuggestInput } from "./SuggestInput";

const TYPING_PAUSE_MS = 250;

/** A table by its name; the daemon suggests names that contain what was typed. */
export function TablePicker({
  label = "Table",
  value,
  onChoose,
}: {
  label?: string;
  value: string;
  onChoose: (table: string) => void;
}) {
  const [typed, setTyped] = useState(value);
  const [text] = useDebouncedValue(typed, TYPING_PAUSE_MS);
  const names = useQuery(tableNamesQuery(text)).data ?? [];
  return (
    <SuggestInput
      label={label}
      placeholder="catalog.namespace.table"
      value={value}
      suggestions={names}
      onType={setTyped}
      onChoose={onChoose}
    />
  );
}
