import { Button, Skeleton } from "@mantine/core";
import type { ReactNode } from "react";
import { ApiError, UNAUTHORIZED } from "../api/client";

interface NoticeProps {
  tone: "critical" | "watch" | "healthy" | "neutral";
  title: string;
  children?: ReactNode;
}

export function Notice({ tone, title, children }: NoticeProps) {
  return (
    <div className={`notice notice-${tone}`} role={tone === "critical" ? "alert" : "status"}>
      <strong>{title}</strong>
      {children}
    </div>
  );
}

/** An error in the daemon's words. */
export function ErrorNotice({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  if (onRetry && isUnanswered(error)) {
    return (
      <Notice tone="neutral" title="Not loaded yet">
        <p>It loads when the daemon answers.</p>
      </Notice>
    );
  }
  if (error instanceof ApiError && error.status === UNAUTHORIZED) {
    return (
      <Notice tone="watch" title="You are no longer signed in">
        <div>
          <Button onClick={() => location.reload()}>Sign in again</Button>
        </div>
      </Notice>
    );
  }
  return (
    <Notice
      tone="critical"
      title={error instanceof ApiError ? error.title : "Something went wrong in this page"}
    >
      <p>{error.message}</p>
      {onRetry && (
        <div>
          <Button onClick={onRetry}>Try again</Button>
        </div>
      )}
    </Notice>
  );
}

/** The page says once, at its top, that the daemon does not answer. */
function isUnanswered(error: Error): boolean {
  return error instanceof ApiError && error.status === 0;
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <p>
        <strong>{title}</strong>
      </p>
      {children && <div className="dim">{children}</div>}
    </div>
  );
}

export function Loading({ height = 160, label }: { height?: number; label: string }) {
  return (
    <div role="status">
      <span className="hidden">Loading {label}</span>
      <Skeleton height={height} radius="sm" aria-hidden />
    </div>
  );
}

interface LoadedProps<T> {
  /** The page's heading when there is nothing to show but the error. */
  heading?: string;
  query: { data: T | undefined; error: Error | null; refetch: () => unknown };
  label: string;
  height?: number;
  children: (data: T) => ReactNode;
}

/** Shows loaded data; when a reload fails, the old data stays below the error. */
export function Loaded<T>({ query, label, height, heading, children }: LoadedProps<T>) {
  const { data, error } = query;
  if (data === undefined) {
    return error ? (
      <div className="stack">
        {heading && <h1>{heading}</h1>}
        <ErrorNotice error={error} onRetry={() => void query.refetch()} />
      </div>
    ) : (
      <Loading label={label} {...(height ? { height } : {})} />
    );
  }
  return (
    <>
      {error && !isUnanswered(error) && <ErrorNotice error={error} />}
      {children(data)}
    </>
  );
}
