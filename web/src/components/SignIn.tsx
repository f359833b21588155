import { Button, PasswordInput } from "@mantine/core";
import { useState } from "react";
import { signInAddress, useSession, useSignOut, useTokenSignIn } from "../api/session";
import type { Session } from "../api/types";
import { prefix } from "../lib/prefix";
import { Notice } from "./notices";

const FAILURES: Record<string, string> = {
  unavailable:
    "The OpenID provider does not answer. Signed-in people stay signed in; nobody else can sign in until it answers.",
  refused: "The OpenID provider did not confirm the sign-in, or it took too long. Try again.",
};

function TokenForm({ isOnly }: { isOnly: boolean }) {
  const signIn = useTokenSignIn();
  const [token, setToken] = useState("");
  return (
    <form
      className="stack-tight"
      onSubmit={(event) => {
        event.preventDefault();
        signIn.mutate(token.trim());
      }}
    >
      <PasswordInput
        label="API token"
        size="sm"
        value={token}
        onChange={(event) => setToken(event.currentTarget.value)}
        autoComplete="off"
      />
      {signIn.error && <p role="alert">{signIn.error.message}</p>}
      <Button
        type="submit"
        size="sm"
        variant={isOnly ? "filled" : "default"}
        fullWidth
        loading={signIn.isPending}
        disabled={token.trim() === ""}
      >
        Sign in with this token
      </Button>
    </form>
  );
}

/** Stands in place of every page until somebody is signed in. */
export function SignIn({ session }: { session: Session }) {
  const { pathname, search } = globalThis.location;
  const failure = FAILURES[new URLSearchParams(search).get("sign-in") ?? ""];
  const page = failure ? "/" : pathname.slice(prefix.length) + search;
  return (
    <div className="sign-in panel stack">
      <div className="sign-in-head">
        <img src="/icon.svg" alt="" width={48} height={48} />
        <h1>Sign in</h1>
        <p className="dim">iceberg-maintainer keeps the tables of this lake in good health.</p>
      </div>
      {failure && (
        <Notice tone="critical" title="You are not signed in">
          <p>{failure}</p>
        </Notice>
      )}
      {session.has_provider && (
        <Button component="a" size="sm" variant="filled" fullWidth href={signInAddress(page)}>
          Sign in
        </Button>
      )}
      {session.has_provider && session.has_tokens && <p className="sign-in-or dim">or</p>}
      {session.has_tokens && <TokenForm isOnly={!session.has_provider} />}
      {!session.has_provider && !session.has_tokens && (
        <p>
          This daemon accepts only bearer tokens of its OpenID provider, and no sign-in in a
          browser.
        </p>
      )}
    </div>
  );
}

/** Who is signed in, in the header. */
export function Account() {
  const session = useSession();
  const signOut = useSignOut();
  if (!session?.name) return null;
  return (
    <div className="row">
      <span className="dim account">{session.name.replace(/^person (.*) via page$/, "$1")}</span>
      <Button size="xs" loading={signOut.isPending} onClick={() => signOut.mutate()}>
        Sign out
      </Button>
    </div>
  );
}

export function NoRole({ name }: { name: string }) {
  return (
    <Notice tone="watch" title="You have no role here">
      <p>{name} is signed in, but no rule of the configuration gives a role.</p>
    </Notice>
  );
}
