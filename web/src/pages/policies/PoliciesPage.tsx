import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { policiesQuery } from "../../api/queries";
import { Empty, Loaded, Notice } from "../../components/notices";
import { Panel } from "../../components/Panel";
import { PolicyValues } from "../../components/PolicyValues";
import { ProblemList } from "../../components/ProblemList";
import { Validator } from "./Validator";

const PAGE_HEIGHT = 400;

/** The policy files in force, the problems of others, and a check for a new one. */
export function PoliciesPage() {
  useDocumentTitle("Policies – iceberg-maintainer");
  const policies = useQuery(policiesQuery);
  return (
    <div className="stack">
      <div className="row row-apart">
        <h1>Policies</h1>
        <span className="dim">
          {policies.data && (
            <>
              version <code>{policies.data.version}</code>
            </>
          )}
        </span>
      </div>
      <p className="dim">Listed from general to specific; more specific files override.</p>
      <Loaded query={policies} label="the policies" height={PAGE_HEIGHT}>
        {({ layers, problems }) => (
          <>
            {problems.length > 0 && (
              <Notice
                tone="critical"
                title="A policy file is invalid; the last valid policies stay in force"
              >
                <ProblemList problems={problems} />
              </Notice>
            )}
            {layers.length === 0 && (
              <Empty title="No policy file is in force">
                Tables are measured but not maintained.
              </Empty>
            )}
            {layers.map((layer) => (
              <Panel
                key={layer.name}
                title={layer.name}
                aside={<span className="mono dim">{layer.tables.join(", ")}</span>}
              >
                <PolicyValues values={layer.values} caption={`Values of ${layer.name}`} />
              </Panel>
            ))}
          </>
        )}
      </Loaded>
      <Validator />
    </div>
  );
}
