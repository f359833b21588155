import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { policyDiffQuery, versionsQuery } from "../../api/policies";
import type { PolicyVersion } from "../../api/types";
import { Grid } from "../../components/Grid";
import { LoadMore } from "../../components/LoadMore";
import { Empty, Loaded } from "../../components/notices";
import { Panel } from "../../components/Panel";
import { ProblemList } from "../../components/ProblemList";
import { TimeAgo } from "../../components/TimeAgo";
import { pluralize, UNKNOWN } from "../../lib/format";

function Differences({ before, after }: { before: string; after: string }) {
  const diff = useQuery(policyDiffQuery(before, after));
  return (
    <Loaded query={diff} label="the differences" height={96}>
      {({ changes }) =>
        changes.length === 0 ? (
          <Empty title="No value differs">Lines or files were moved.</Empty>
        ) : (
          <Grid
            label={`Differences from ${before} to ${after}`}
            headings={["File", "Setting", "Before", "After"]}
          >
            {changes.map((change) => (
              <tr key={`${change.layer} ${change.path}`}>
                <th scope="row" className="mono">
                  {change.layer}
                </th>
                <td className="mono">{change.path}</td>
                <td className="mono" title={change.source_before ?? undefined}>
                  {change.before ?? UNKNOWN}
                </td>
                <td className="mono" title={change.source_after ?? undefined}>
                  {change.after ?? UNKNOWN}
                </td>
              </tr>
            ))}
          </Grid>
        )
      }
    </Loaded>
  );
}

function Version({ version, earlier }: { version: PolicyVersion; earlier: string | undefined }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <li className="stack-tight">
      <div className="row row-apart">
        <span>
          <code>{version.version}</code> <span className="dim">with</span>{" "}
          {pluralize(version.layer_count, "file")}
          {version.problems.length > 0 && (
            <span className="dim">, {pluralize(version.problems.length, "problem")}</span>
          )}
        </span>
        <span className="dim">
          in force since <TimeAgo time={version.last_seen_at} />
        </span>
      </div>
      <ProblemList problems={version.problems} />
      {earlier !== undefined && (
        <details onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>
            Differences from <code>{earlier}</code>
          </summary>
          {isOpen && <Differences before={earlier} after={version.version} />}
        </details>
      )}
    </li>
  );
}

/** The versions of the policies, the one in force first, each with what it changed. */
export function VersionsPanel() {
  const versions = useInfiniteQuery(versionsQuery);
  return (
    <Panel title="Versions">
      <Loaded query={versions} label="the versions">
        {({ pages }) => {
          const known = pages.flatMap((page) => page.items);
          if (known.length === 0) return <Empty title="No version was recorded yet" />;
          return (
            <>
              <ol className="entries">
                {known.map((version, index) => (
                  <Version
                    key={version.version}
                    version={version}
                    earlier={known[index + 1]?.version}
                  />
                ))}
              </ol>
              <LoadMore query={versions} words="Earlier" />
            </>
          );
        }}
      </Loaded>
    </Panel>
  );
}
