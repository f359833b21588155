import { Button } from "@mantine/core";
import { useLayoutEffect, useRef, useState } from "react";
import { logAddress, MAX_LINES, useJobLog, type LiveLog } from "../../api/log";
import { Empty } from "../../components/notices";
import { Panel } from "../../components/Panel";
import { formatCount } from "../../lib/format";
import { STREAM_WORDS } from "../../lib/words";

/** So many pixels from its end a log still counts as scrolled to it. */
const NEAR_END = 24;

function Lines({ log, isFollowed }: { log: LiveLog; isFollowed: boolean }) {
  const box = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    if (box.current && isFollowed && isAtEnd.current)
      box.current.scrollTop = box.current.scrollHeight;
  }, [log.lines, isFollowed]);
  const noteScroll = () => {
    const { scrollHeight = 0, scrollTop = 0, clientHeight = 0 } = box.current ?? {};
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_END;
  };
  return (
    <pre
      ref={box}
      className="log"
      role="log"
      // Who listens to the page reads the lines when they want to.
      aria-live="off"
      aria-label="Driver log"
      tabIndex={0}
      onScroll={noteScroll}
    >
      {log.lines.join("\n")}
    </pre>
  );
}

/** What the job's driver wrote while it had the job. */
export function LogPanel({ jobId, fold }: { jobId: string; fold?: "closed" | "open" }) {
  const [isFollowed, setFollowed] = useState(true);
  const [log, stream] = useJobLog(jobId, isFollowed);
  const isOver = stream === "ended";
  const words = isFollowed || isOver ? STREAM_WORDS[stream] : "paused";
  return (
    <Panel
      title="Driver log"
      fold={fold}
      aside={
        <div className="row">
          <span className="dim" aria-live="polite">
            {words}
          </span>
          {!isOver && (
            <Button onClick={() => setFollowed(!isFollowed)}>
              {isFollowed ? "Pause" : "Follow"}
            </Button>
          )}
          {log.lines.length > 0 && (
            <a href={logAddress(jobId)} download={`${jobId}.log`}>
              Download
            </a>
          )}
        </div>
      }
    >
      {log.lines.length === 0 ? (
        <Empty title={log.state === "none" ? "No log of this job was kept" : "No lines yet"}>
          {log.state !== "none" && "They appear here as soon as a driver has the job."}
        </Empty>
      ) : (
        <div className="stack-tight">
          <p className="dim">
            What the driver wrote while it had this job. Other jobs that it ran at the same time
            write between its lines.
            {log.isCut &&
              ` Older lines are left out: the page shows ${formatCount(MAX_LINES)}, and the last 256 KiB are kept.`}
          </p>
          <Lines log={log} isFollowed={isFollowed} />
        </div>
      )}
    </Panel>
  );
}
