import type { PolicyProblem } from "../api/types";

/** Problems of policy files, each with file and line. */
export function ProblemList({ problems }: { problems: PolicyProblem[] }) {
  return (
    <ul className="findings">
      {problems.map((problem) => (
        <li key={problem.source + problem.message}>
          <span className="mono">{problem.source}</span> {problem.message}
        </li>
      ))}
    </ul>
  );
}
