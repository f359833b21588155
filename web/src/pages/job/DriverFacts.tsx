import type { JobDriver } from "../../api/types";

function placeOf({ pod, host, process }: JobDriver): string {
  if (pod) return `pod ${pod}`;
  return process === null ? host : `${host}, process ${process}`;
}

function versionsOf({ spark, iceberg, scala, java }: JobDriver): string {
  return Object.entries({ Spark: spark, Iceberg: iceberg, Scala: scala, Java: java })
    .filter(([, version]) => version !== "")
    .map(([name, version]) => `${name} ${version}`)
    .join(", ");
}

/** Which driver has the job, where it runs, and a link to Spark's own page of it. */
export function DriverFacts({ driver }: { driver: JobDriver }) {
  const place = placeOf(driver);
  const versions = versionsOf(driver);
  return (
    <>
      <dt>Driver</dt>
      <dd className="mono">{driver.name}</dd>
      {place && (
        <>
          <dt>Runs on</dt>
          <dd className="mono">{place}</dd>
        </>
      )}
      {driver.application_id && (
        <>
          <dt>Spark application</dt>
          <dd className="mono">{driver.application_id}</dd>
        </>
      )}
      {driver.ui_url && (
        <>
          <dt>Spark’s page</dt>
          <dd>
            <a href={driver.ui_url} target="_blank" rel="noreferrer">
              Open in a new tab
            </a>
          </dd>
        </>
      )}
      {versions && (
        <>
          <dt>Versions</dt>
          <dd>{versions}</dd>
        </>
      )}
    </>
  );
}
