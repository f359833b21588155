import { Button, PasswordInput } from "@mantine/core";
import { useState } from "react";
import { keepToken } from "../api/token";

/** Asks for the API token that changes need. */
export function TokenForm() {
  const [token, setToken] = useState("");
  const [isKept, setKept] = useState(false);
  if (isKept) return <p>The token is kept until this tab is closed. Repeat your last step.</p>;
  return (
    <form
      className="row"
      onSubmit={(event) => {
        event.preventDefault();
        keepToken(token.trim());
        setKept(true);
      }}
    >
      <PasswordInput
        label="API token"
        value={token}
        onChange={(event) => setToken(event.currentTarget.value)}
        autoComplete="off"
      />
      <Button type="submit" disabled={token.trim() === ""}>
        Use this token
      </Button>
    </form>
  );
}
