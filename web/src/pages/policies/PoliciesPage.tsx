import { Tabs } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { policiesQuery } from "../../api/policies";
import { Empty, Loaded, Notice } from "../../components/notices";
import { ProblemList } from "../../components/ProblemList";
import { isPolicyTab, POLICY_TABS, type PoliciesAddress } from "../../lib/addresses";
import { DraftPanel } from "./DraftPanel";
import { EffectivePanel } from "./EffectivePanel";
import { LayerRow } from "./LayerRow";
import { VersionsPanel } from "./VersionsPanel";

const route = getRouteApi("/policies");
const PAGE_HEIGHT = 400;

function Files() {
  const policies = useQuery(policiesQuery);
  return (
    <Loaded query={policies} label="the policies" height={PAGE_HEIGHT}>
      {({ layers, problems }) => (
        <div className="stack">
          {problems.length > 0 && (
            <Notice
              tone="critical"
              title="A policy file is invalid; the last valid policies stay in force"
            >
              <ProblemList problems={problems} />
            </Notice>
          )}
          {layers.length === 0 ? (
            <Empty title="No policy file is in force">
              Tables are measured but not maintained.
            </Empty>
          ) : (
            <p className="dim">Listed from general to specific; more specific files override.</p>
          )}
          {layers.length > 0 && (
            <div className="panel panel-flush">
              {layers.map((layer) => (
                <LayerRow key={layer.name} layer={layer} />
              ))}
            </div>
          )}
        </div>
      )}
    </Loaded>
  );
}

/** The policy files, what they were, what they mean for a table, and a draft of another one. */
export function PoliciesPage() {
  useDocumentTitle("Policies – iceberg-maintainer");
  const { tab = "files", table } = route.useSearch();
  const navigate = route.useNavigate();
  const version = useQuery(policiesQuery).data?.version;
  const change = (search: PoliciesAddress) => void navigate({ search, resetScroll: false });
  return (
    <div className="stack">
      <div className="row row-apart">
        <h1>Policies</h1>
        {version !== undefined && (
          <span className="dim">
            version <code>{version}</code>
          </span>
        )}
      </div>
      <Tabs
        value={tab}
        keepMounted={false}
        onChange={(chosen) =>
          change(isPolicyTab(chosen) && chosen !== "files" ? { tab: chosen } : {})
        }
      >
        <Tabs.List aria-label="Policies">
          {Object.entries(POLICY_TABS).map(([value, label]) => (
            <Tabs.Tab key={value} value={value}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="files" pt="md">
          <Files />
        </Tabs.Panel>
        <Tabs.Panel value="table" pt="md">
          <EffectivePanel
            table={table ?? ""}
            onChoose={(chosen) => change({ tab: "table", ...(chosen && { table: chosen }) })}
          />
        </Tabs.Panel>
        <Tabs.Panel value="draft" pt="md">
          <DraftPanel
            table={table ?? ""}
            onChoose={(chosen) => change({ tab: "draft", ...(chosen && { table: chosen }) })}
          />
        </Tabs.Panel>
        <Tabs.Panel value="versions" pt="md">
          <VersionsPanel />
        </Tabs.Panel>
      </Tabs>
    </div>
  );
}
