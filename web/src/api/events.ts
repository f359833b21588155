import { useEffect, useState } from "react";
import { prefix } from "../lib/prefix";
import type { Job, JobEvent } from "./types";

export type StreamState = "connecting" | "live" | "ended" | "broken";

export interface LiveEvents {
  events: JobEvent[];
  stream: StreamState;
}

/** Adds an event in its place; a reconnected stream may tell what is already known. */
export function addEvent(events: JobEvent[], event: JobEvent): JobEvent[] {
  if (events.some((known) => known.sequence === event.sequence)) return events;
  return [...events, event].sort((a, b) => a.sequence - b.sequence);
}

/** Reads JSON; an integer too large for JavaScript, such as a snapshot's id, stays text. */
export function parseExact(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)
      ? (context?.source ?? String(value))
      : value,
  );
}

/** A job's events as they happen (Server-Sent Events); the browser reconnects by itself. */
export function useJobEvents(jobId: string, onJob: (job: Job) => void): LiveEvents {
  const [live, setLive] = useState<LiveEvents>({ events: [], stream: "connecting" });
  useEffect(() => {
    const source = new EventSource(`${prefix}/api/v1/jobs/${encodeURIComponent(jobId)}/events`);
    source.onopen = () => setLive((known) => ({ ...known, stream: "live" }));
    source.onmessage = (message: MessageEvent<string>) => {
      const event = parseExact(message.data) as JobEvent;
      setLive((known) => ({ events: addEvent(known.events, event), stream: "live" }));
    };
    source.onerror = () =>
      setLive((known) => ({
        ...known,
        stream: source.readyState === EventSource.CLOSED ? "broken" : "connecting",
      }));
    source.addEventListener("job", (message: MessageEvent<string>) =>
      onJob(JSON.parse(message.data) as Job),
    );
    source.addEventListener("end", (message: MessageEvent<string>) => {
      source.close();
      onJob(JSON.parse(message.data) as Job);
      setLive((known) => ({ ...known, stream: "ended" }));
    });
    return () => source.close();
  }, [jobId, onJob]);
  return live;
}
