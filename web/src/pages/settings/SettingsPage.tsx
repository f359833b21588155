import { TextInput } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, FORBIDDEN } from "../../api/client";
import { replicasQuery, settingsQuery } from "../../api/fleet";
import type { Replica, Setting, Settings } from "../../api/types";
import { Grid } from "../../components/Grid";
import { Empty, Loaded, Notice } from "../../components/notices";
import { Panel } from "../../components/Panel";
import { formatCount } from "../../lib/format";
import { TargetPanel } from "./TargetPanel";
import { ReplicaGrid } from "../fleet/Replicas";

const PAGE_HEIGHT = 300;

function SettingRow({ setting: { name, value, is_default } }: { setting: Setting }) {
  return (
    <tr>
      <th scope="row" className="words">
        {name}
      </th>
      <td className="words">{value ?? "–"}</td>
      <td>{is_default ? <span className="dim">Default</span> : "Set"}</td>
    </tr>
  );
}

/** The settings whose names contain what is typed. */
export function SettingList({ settings }: { settings: Setting[] }) {
  const [typed, setTyped] = useState("");
  const text = typed.trim().toLowerCase();
  const found = settings.filter(({ name }) => name.toLowerCase().includes(text));
  return (
    <div className="stack">
      <TextInput
        type="search"
        label="Search"
        placeholder="Part of a setting's name"
        value={typed}
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      />
      <p className="dim" role="status">
        {formatCount(found.length)} of {formatCount(settings.length)}
      </p>
      {found.length === 0 ? (
        <Empty title={text ? "No setting has such a name" : "This process reports no settings"} />
      ) : (
        <Grid label="Settings" headings={["Setting", "Value", "From"]}>
          {found.map((setting) => (
            <SettingRow key={setting.name} setting={setting} />
          ))}
        </Grid>
      )}
    </div>
  );
}

export function ReplicaList({ replicas }: { replicas: Replica[] }) {
  return replicas.length === 0 ? (
    <Empty title="No replica scans, plans or runs jobs now" />
  ) : (
    <ReplicaGrid replicas={replicas} />
  );
}

function Configuration({ query }: { query: LoadableSettings }) {
  const { error } = query;
  if (error instanceof ApiError && error.status === FORBIDDEN)
    return (
      <Notice tone="neutral" title="Your role does not show the settings">
        <p>{error.message}</p>
      </Notice>
    );
  return (
    <Loaded query={query} label="the settings" height={PAGE_HEIGHT}>
      {({ version, settings }) => (
        <>
          <TargetPanel />
          <Panel title="Configuration" aside={<span className="dim">Version {version}</span>}>
            <SettingList settings={settings} />
          </Panel>
        </>
      )}
    </Loaded>
  );
}

interface LoadableSettings {
  data: Settings | undefined;
  error: Error | null;
  refetch: () => unknown;
}

/** The effective configuration without secrets, and which replica does what. */
export function SettingsPage() {
  useDocumentTitle("Settings – iceberg-maintainer");
  const settings = useQuery(settingsQuery);
  const replicas = useQuery(replicasQuery);
  return (
    <div className="stack">
      <h1>Settings</h1>
      <Panel title="Replicas">
        <Loaded query={replicas} label="the replicas">
          {(known) => <ReplicaList replicas={known} />}
        </Loaded>
      </Panel>
      <Configuration query={settings} />
    </div>
  );
}
