import { TextInput } from "@mantine/core";
import { useId, useState } from "react";

interface SuggestInputProps {
  label: string;
  placeholder: string;
  value: string;
  suggestions: string[];
  /** Each change of the text, from which suggestions may follow. */
  onType?: (text: string) => void;
  /** A suggestion, or what was typed when Enter is pressed or the field is left. */
  onChoose: (value: string) => void;
}

/** A field of text with suggestions. */
export function SuggestInput(props: SuggestInputProps) {
  const { label, placeholder, value, suggestions, onType, onChoose } = props;
  const list = useId();
  const [typed, setTyped] = useState(value);
  const [known, setKnown] = useState(value);
  if (known !== value) {
    setKnown(value);
    setTyped(value);
  }
  const choose = (text: string) => {
    if (text.trim() !== value) onChoose(text.trim());
  };
  return (
    <>
      <TextInput
        label={label}
        placeholder={placeholder}
        type="search"
        list={list}
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={({ currentTarget: { value: text } }) => {
          setTyped(text);
          onType?.(text.trim());
          if (text === "" || suggestions.includes(text)) choose(text);
        }}
        onKeyDown={(event) => event.key === "Enter" && choose(typed)}
        onBlur={() => choose(typed)}
      />
      <datalist id={list}>
        {suggestions.map((suggestion) => (
          <option key={suggestion} value={suggestion} />
        ))}
      </datalist>
    </>
  );
}
