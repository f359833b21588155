import { useDocumentVisibility } from "@mantine/hooks";
import { useEffect, useRef, useState } from "react";
import { prefix } from "../lib/prefix";
import type { StreamState } from "./events";
import type { JobLog } from "./types";

/** The most lines on the page; the download has the whole log. */
export const MAX_LINES = 2_000;

export interface LiveLog {
  lines: string[];
  /** Lines were left out before the first one. */
  isCut: boolean;
  /** The position after the last line. */
  next: number;
  /** The state of the log as the daemon reports it; undefined until the first report. */
  state: JobLog["state"] | undefined;
}

export const NO_LOG: LiveLog = { lines: [], isCut: false, next: 0, state: undefined };

export function logAddress(jobId: string): string {
  return `${prefix}/api/v1/jobs/${encodeURIComponent(jobId)}/log`;
}

/** Adds a piece; a reconnected stream may repeat what is already known. */
export function addPiece(log: LiveLog, piece: JobLog): LiveLog {
  const text = piece.text.slice(Math.max(0, log.next - piece.start));
  const added = text === "" ? [] : text.replace(/\n$/, "").split("\n");
  const lines = [...log.lines, ...added];
  return {
    lines: lines.slice(-MAX_LINES),
    isCut: log.isCut || piece.start > log.next || lines.length > MAX_LINES,
    next: Math.max(log.next, piece.next),
    state: piece.state,
  };
}

/**
 * A job's log as it grows (Server-Sent Events); the browser reconnects by itself. Nothing is asked
 * while it is not followed or the page cannot be seen: a browser has few connections to one daemon.
 */
export function useJobLog(jobId: string, isFollowed: boolean): [LiveLog, StreamState] {
  const [log, setLog] = useState(NO_LOG);
  const [stream, setStream] = useState<StreamState>("connecting");
  const position = useRef(0);
  const isVisible = useDocumentVisibility() !== "hidden";
  const isOpen = isFollowed && isVisible && stream !== "ended";
  useEffect(() => {
    if (!isOpen) return undefined;
    const source = new EventSource(`${logAddress(jobId)}?since=${position.current}`);
    const take = (message: MessageEvent<string>) => {
      const piece = JSON.parse(message.data) as JobLog;
      position.current = Math.max(position.current, piece.next);
      setLog((known) => addPiece(known, piece));
    };
    source.onopen = () => setStream("live");
    source.onmessage = take;
    source.onerror = () =>
      setStream(source.readyState === EventSource.CLOSED ? "broken" : "connecting");
    source.addEventListener("end", (message: MessageEvent<string>) => {
      source.close();
      take(message);
      setStream("ended");
    });
    return () => source.close();
  }, [jobId, isOpen]);
  return [log, stream];
}
