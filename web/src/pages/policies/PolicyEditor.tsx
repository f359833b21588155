import { Textarea, UnstyledButton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useId, useLayoutEffect, useRef, useState } from "react";
import { policySchemaQuery } from "../../api/policies";
import { complete } from "../../lib/completion";

const ROWS = 16;
const MOST_SUGGESTIONS = 24;

/** A text of YAML; below it stands what the schema allows at the caret. */
export function PolicyEditor({
  value,
  onChange,
}: {
  value: string;
  onChange: (yaml: string) => void;
}) {
  const schema = useQuery(policySchemaQuery).data;
  const text = useRef<HTMLTextAreaElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const [caret, setCaret] = useState(value.length);
  const inserted = useRef<number>(undefined);
  const id = useId();
  useLayoutEffect(() => {
    if (inserted.current === undefined) return;
    text.current?.focus();
    text.current?.setSelectionRange(inserted.current, inserted.current);
    inserted.current = undefined;
  }, [value]);
  const completion = schema && complete(schema, value, caret);
  const suggestions = completion?.suggestions.slice(0, MOST_SUGGESTIONS) ?? [];
  const insert = (suggestion: string) => {
    if (!completion) return;
    inserted.current = completion.from + suggestion.length;
    setCaret(inserted.current);
    onChange(value.slice(0, completion.from) + suggestion + value.slice(caret));
  };
  return (
    <div className="stack-tight">
      <Textarea
        ref={text}
        label="Policy as YAML"
        description="Ctrl+Space moves to the suggestions below."
        aria-describedby={id}
        rows={ROWS}
        spellCheck={false}
        classNames={{ input: "mono" }}
        value={value}
        onChange={({ currentTarget }) => {
          setCaret(currentTarget.selectionStart);
          onChange(currentTarget.value);
        }}
        onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart)}
        onKeyDown={(event) => {
          if (!event.ctrlKey || event.code !== "Space") return;
          event.preventDefault();
          list.current?.querySelector("button")?.focus();
        }}
      />
      <ul ref={list} id={id} className="suggestions" aria-label="Suggestions at the cursor">
        {suggestions.map(({ text: suggestion, description }) => (
          <li key={suggestion}>
            <UnstyledButton className="suggestion" onClick={() => insert(suggestion)}>
              <span className="mono">{suggestion.trim()}</span>
              <span className="dim">{description}</span>
            </UnstyledButton>
          </li>
        ))}
      </ul>
    </div>
  );
}
