import { useEffect, useState } from "react";
import type { Job, JobEvent } from "./types";

export type StreamState = "connecting" | "live" | "ended" | "broken";

export interface JobStory {
  events: JobEvent[];
  stream: StreamState;
}

/** Adds an event in its place; a reconnected stream may tell what is already known. */
export function addEvent(events: JobEvent[], event: JobEvent): JobEvent[] {
  if (events.some((known) => known.sequence === event.sequence)) return events;
  return [...events, event].sort((a, b) => a.sequence - b.sequence);
}

/** Reads JSON; a whole number that JavaScript cannot hold, such as a snapshot's id, stays the text that it was. */
export function parseExact(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)
      ? (context?.source ?? String(value))
      : value,
  );
}

/** A job's events as they happen (Server-Sent Events); the browser itself reconnects after the last one that it has seen. */
export function useJobEvents(jobId: string, onJob: (job: Job) => void): JobStory {
  const [story, setStory] = useState<JobStory>({ events: [], stream: "connecting" });
  useEffect(() => {
    const source = new EventSource(`/api/v1/jobs/${encodeURIComponent(jobId)}/events`);
    source.onopen = () => setStory((known) => ({ ...known, stream: "live" }));
    source.onmessage = (message: MessageEvent<string>) => {
      const event = parseExact(message.data) as JobEvent;
      setStory((known) => ({ events: addEvent(known.events, event), stream: "live" }));
    };
    source.onerror = () =>
      setStory((known) => ({
        ...known,
        stream: source.readyState === EventSource.CLOSED ? "broken" : "connecting",
      }));
    source.addEventListener("job", (message: MessageEvent<string>) =>
      onJob(JSON.parse(message.data) as Job),
    );
    source.addEventListener("end", (message: MessageEvent<string>) => {
      source.close();
      onJob(JSON.parse(message.data) as Job);
      setStory((known) => ({ ...known, stream: "ended" }));
    });
    return () => source.close();
  }, [jobId, onJob]);
  return story;
}
