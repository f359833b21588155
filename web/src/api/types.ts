import type { components } from "./schema";

type Schemas = components["schemas"];

export type Admission = Schemas["AdmissionOut"];
export type AuditEntry = Schemas["AuditEntryOut"];
export type Band = Schemas["Band"];
export type ReportLine = Schemas["ReportLineOut"];
export type RescuePlan = Schemas["RescuePlanOut"];
export type Role = Schemas["Role"];
export type Session = Schemas["SessionOut"];
export type CatalogOut = Schemas["CatalogOut"];
export type CatalogStorage = Schemas["CatalogStorageOut"];
export type ScanCost = Schemas["ScanCostOut"];
export type Budget = Schemas["BudgetOut"];
export type DailyWork = Schemas["DailyWorkOut"];
export type Day = Schemas["DayOut"];
export type NameService = Schemas["NameServiceOut"];
export type Namespace = Schemas["NamespaceOut"];
export type Cost = Schemas["CostOut"];
export type EffectivePolicy = Schemas["EffectivePolicyOut"];
export type Effect = Schemas["EffectOut"];
export type Estimate = Schemas["EstimateOut"];
export type EstimateError = Schemas["EstimateErrorOut"];
export type FailureReason = Schemas["FailureReason"];
export type Fault = Schemas["FaultOut"];
export type FaultKind = Schemas["FaultKind"];
export type Finding = Schemas["FindingOut"];
export type FleetHistory = Schemas["FleetHistory"];
export type FleetPreview = Schemas["FleetPreview"];
export type SuggestedPolicy = Schemas["SuggestedPolicyOut"];
export type FleetStatus = Schemas["StatusOut"];
export type FleetSample = Schemas["FleetSampleOut"];
export type History = Schemas["History"];
export type HistogramBin = Schemas["HistogramBin"];
export type InboxEntry = Schemas["InboxEntryOut"];
export type InboxKind = Schemas["InboxKind"];
export type Job = Schemas["JobOut"];
export type JobDriver = Schemas["DriverOut"];
export type JobEvent = Schemas["JobEventOut"];
export type JobLog = Schemas["JobLogOut"];
export type JobPage = Schemas["JobPage"];
export type JobState = Schemas["JobState"];
export type ManifestGroup = Schemas["ManifestGroupOut"];
export type Measurement = Schemas["MeasurementOut"];
export type Mode = Schemas["Mode"];
export type OrphanFiles = Schemas["OrphanFiles"];
export type OrphanList = Schemas["OrphanListOut"];
export type Outlook = Schemas["OutlookOut"];
export type Overview = Schemas["OverviewOut"];
export type Partition = Schemas["PartitionOut"];
export type PartitionAdvice = Schemas["PartitionAdviceOut"];
export type Plan = Schemas["PlanOut"];
export type Planned = Schemas["PlannedOut"];
export type PolicyChange = Schemas["PolicyChangeOut"];
export type Pauses = Schemas["PausesOut"];
export type ScopePause = Schemas["ScopePauseOut"];
export type PolicyLayer = Schemas["PolicyLayerOut"];
export type PolicyProblem = Schemas["PolicyProblemOut"];
export type PolicySet = Schemas["PolicySetOut"];
export type PolicyValue = Schemas["PolicyValueOut"];
export type PolicyVersion = Schemas["PolicyVersionOut"];
export type PolicyVerdict = Schemas["PolicyVerdict"];
export type Pool = Schemas["PoolOut"];
export type SmallFilesReport = Schemas["SmallFilesReportOut"];
export type Setting = Schemas["SettingOut"];
export type Settings = Schemas["SettingsOut"];
export type Replica = Schemas["ReplicaOut"];
export type Queue = Schemas["QueueOut"];
export type Queued = Schemas["QueuedOut"];
export type RowProof = Schemas["RowProof"];
export type RuleName = Schemas["RuleName"];
export type JobRule = Schemas["JobOut"]["rule"];
export type RunAccepted = Schemas["RunAccepted"];
export type Score = Schemas["ScoreOut"];
export type Expiry = Schemas["ExpiryOut"];
export type Keeper = Schemas["KeeperOut"];
export type Pin = Schemas["PinOut"];
export type PinList = Schemas["PinList"];
export type Snapshot = Schemas["SnapshotOut"];
export type SnapshotList = Schemas["SnapshotList"];
export type SkipCode = Schemas["SkipCode"];
export type Skipped = Schemas["SkippedOut"];
export type Stage = Schemas["Stage"];
export type Storage = Schemas["StorageOut"];
export type StorageProfile = Schemas["StorageProfile"];
export type TableDetail = Schemas["TableDetail"];
export type TablePage = Schemas["TablePage"];
export type TableState = Schemas["TableState"];
export type TableStatus = Schemas["TableStatusOut"];
export type TableSummary = Schemas["TableSummary"];
export type Verdict = Schemas["VerdictOut"];
export type WaitCode = Schemas["WaitCode"];

/** Where a table is on the wire and in the page's own addresses. */
export interface TablePath {
  catalog: string;
  namespace: string;
  table: string;
}

/** The assumptions of the report on small files; without a storage each table's own. */
export interface ReportChoice {
  storage?: StorageProfile;
  scans_per_day?: number;
}

/** What the page of reports shows. */
export interface ReportsAddress extends ReportChoice {
  /** Whose way back to health is shown. */
  table?: string;
}
