import { Button, CopyButton } from "@mantine/core";

/** The statement that Spark would get, with a button to copy it. */
export function Statement({ sql }: { sql: string }) {
  return (
    <div className="statement">
      <pre tabIndex={0} aria-label="Statement">
        <code>{sql}</code>
      </pre>
      <CopyButton value={sql}>
        {({ copied, copy }) => (
          <Button size="compact-xs" className="statement-copy" onClick={copy}>
            {copied ? "Copied" : "Copy"}
          </Button>
        )}
      </CopyButton>
    </div>
  );
}
