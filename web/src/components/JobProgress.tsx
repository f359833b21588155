import { Progress } from "@mantine/core";
import type { ReactNode } from "react";
import type { Job } from "../api/types";
import { useNow } from "../lib/now";
import { describeProgress, STAGES } from "../lib/progress";
import { STAGE_WORDS } from "../lib/words";

/** The progress of an unfinished job: its stage, the stage's counts, and one bar for all. */
export function JobProgress({
  progress,
  children,
}: {
  progress: Job["progress"];
  children?: ReactNode;
}) {
  const { stage, figures, percent } = describeProgress(progress, useNow());
  const moves = progress.stage !== "waiting" && !progress.is_counted;
  return (
    <div className="progress">
      <div className="row row-apart">
        <span>{stage}</span>
        {figures && <span className="dim num">{figures}</span>}
      </div>
      <Progress value={percent} animated={moves} striped={moves} aria-label="Progress of the job" />
      {children}
    </div>
  );
}

/** The stages of a job in their order, the present one marked. */
export function StageList({ stage }: { stage: Job["progress"]["stage"] }) {
  const present = STAGES.indexOf(stage);
  return (
    <ol className="stages" aria-label="Stages">
      {STAGES.map((each, index) => (
        <li
          key={each}
          className={index < present ? "stage-done" : ""}
          aria-current={index === present ? "step" : undefined}
        >
          {STAGE_WORDS[each]}
        </li>
      ))}
    </ol>
  );
}
