CREATE TABLE tables (
	full_name TEXT NOT NULL,
	levels TEXT NOT NULL,
	catalog TEXT NOT NULL,
	namespace TEXT NOT NULL,
	search_name TEXT NOT NULL,
	table_uuid TEXT,
	first_seen_at BIGINT NOT NULL,
	measured_at BIGINT,
	band SMALLINT,
	benefit BIGINT DEFAULT '0' NOT NULL,
	need BIGINT,
	average_file_size_bytes DOUBLE,
	data_files BIGINT,
	data_bytes BIGINT,
	small_files BIGINT,
	small_file_ratio DOUBLE,
	delete_files BIGINT,
	manifests BIGINT,
	snapshots BIGINT,
	kept_data_files BIGINT,
	fault TEXT,
	pause TEXT,
	plan_wanted INTEGER DEFAULT '0' NOT NULL,
	planned_under TEXT,
	plan_at BIGINT,
	PRIMARY KEY (full_name)
);

CREATE TABLE health_samples (
	table_uuid TEXT NOT NULL,
	measured_at BIGINT NOT NULL,
	last_at BIGINT,
	more TEXT,
	data_files BIGINT,
	data_bytes BIGINT,
	small_files BIGINT,
	records BIGINT,
	position_delete_files BIGINT,
	equality_delete_files BIGINT,
	deletion_vectors BIGINT,
	manifests BIGINT,
	manifest_bytes BIGINT,
	snapshots BIGINT,
	metadata_bytes BIGINT,
	small_file_bytes BIGINT,
	delete_bytes BIGINT,
	delete_records BIGINT,
	data_manifests BIGINT,
	delete_manifests BIGINT,
	manifest_excess BIGINT,
	branches BIGINT,
	tags BIGINT,
	kept_data_files BIGINT,
	metadata_files BIGINT,
	storage_files BIGINT,
	average_file_size_bytes DOUBLE,
	small_file_ratio DOUBLE,
	delete_file_ratio DOUBLE,
	partition_skew DOUBLE,
	live_file_ratio DOUBLE,
	commits_per_hour DOUBLE,
	growth_bytes_per_day DOUBLE,
	growth_records_per_day DOUBLE,
	PRIMARY KEY (table_uuid, measured_at)
)
 WITHOUT ROWID;

CREATE TABLE manifest_digests (
	table_uuid TEXT NOT NULL,
	path TEXT NOT NULL,
	target_bytes BIGINT NOT NULL,
	shape TEXT NOT NULL,
	document BLOB NOT NULL,
	PRIMARY KEY (table_uuid, path)
);

CREATE TABLE unfinished_readings (
	table_uuid TEXT NOT NULL,
	kept_at BIGINT NOT NULL,
	PRIMARY KEY (table_uuid)
);

CREATE TABLE catalog_faults (
	catalog TEXT NOT NULL,
	document TEXT NOT NULL,
	PRIMARY KEY (catalog)
);

CREATE TABLE verdicts (
	full_name TEXT NOT NULL,
	at BIGINT NOT NULL,
	rule TEXT NOT NULL,
	table_uuid TEXT NOT NULL,
	until BIGINT,
	code TEXT NOT NULL,
	"key" TEXT NOT NULL,
	document TEXT NOT NULL,
	PRIMARY KEY (full_name, at, rule)
)
 WITHOUT ROWID;

CREATE TABLE store_info (
	"key" TEXT NOT NULL,
	value TEXT NOT NULL,
	PRIMARY KEY ("key")
);

CREATE TABLE fleet_counters (
	level SMALLINT NOT NULL,
	catalog TEXT NOT NULL,
	namespace TEXT NOT NULL,
	figures TEXT NOT NULL,
	PRIMARY KEY (level, catalog, namespace)
);

CREATE TABLE policy_versions (
	version TEXT NOT NULL,
	first_seen_at BIGINT NOT NULL,
	last_seen_at BIGINT NOT NULL,
	layers INTEGER NOT NULL,
	problems TEXT NOT NULL,
	document BLOB NOT NULL,
	PRIMARY KEY (version)
);

CREATE TABLE audit_log (
	sequence INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
	at BIGINT NOT NULL,
	actor TEXT NOT NULL,
	deed TEXT NOT NULL,
	full_name TEXT,
	levels TEXT,
	table_uuid TEXT NOT NULL,
	job_id TEXT NOT NULL,
	fields TEXT NOT NULL
);

CREATE TRIGGER audit_log_no_update BEFORE update ON audit_log
BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END;

CREATE TRIGGER audit_log_no_delete BEFORE delete ON audit_log
BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END;

CREATE TABLE orphan_lists (
	list_id TEXT NOT NULL,
	full_name TEXT NOT NULL,
	table_uuid TEXT NOT NULL,
	state TEXT NOT NULL,
	made_at BIGINT NOT NULL,
	document TEXT NOT NULL,
	PRIMARY KEY (list_id)
);

CREATE TABLE jobs (
	job_id TEXT NOT NULL,
	full_name TEXT NOT NULL,
	table_uuid TEXT NOT NULL,
	rule TEXT NOT NULL,
	state TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	finished_at BIGINT,
	document TEXT NOT NULL,
	PRIMARY KEY (job_id)
);

CREATE TABLE leases (
	table_uuid TEXT NOT NULL,
	job_id TEXT NOT NULL,
	holder TEXT NOT NULL,
	token BIGINT NOT NULL,
	expires_at BIGINT,
	PRIMARY KEY (table_uuid)
);

CREATE TABLE rule_histories (
	table_uuid TEXT NOT NULL,
	rule TEXT NOT NULL,
	last_finished_at BIGINT,
	last_success_at BIGINT,
	last_failure_at BIGINT,
	last_failure_reason TEXT NOT NULL,
	consecutive_failures INTEGER NOT NULL,
	idle_at_state TEXT,
	recent_conflicts INTEGER DEFAULT '0' NOT NULL,
	empty_runs INTEGER DEFAULT '0' NOT NULL,
	streak TEXT,
	recent_overloads INTEGER DEFAULT '0' NOT NULL,
	PRIMARY KEY (table_uuid, rule)
);

CREATE TABLE spending (
	job_id TEXT NOT NULL,
	day TEXT NOT NULL,
	catalog TEXT NOT NULL,
	policy TEXT NOT NULL,
	bytes DOUBLE NOT NULL,
	gb_hours DOUBLE NOT NULL,
	PRIMARY KEY (job_id)
);

CREATE TABLE calibrations (
	level TEXT NOT NULL,
	owner TEXT NOT NULL,
	rule TEXT NOT NULL,
	learnt_at BIGINT NOT NULL,
	document TEXT NOT NULL,
	PRIMARY KEY (level, owner, rule)
);

CREATE TABLE scope_pauses (
	scope TEXT NOT NULL,
	document TEXT NOT NULL,
	PRIMARY KEY (scope)
);

CREATE TABLE savings (
	id SMALLINT NOT NULL,
	files_removed BIGINT NOT NULL,
	manifests_removed BIGINT NOT NULL,
	snapshots_removed BIGINT NOT NULL,
	bytes_rewritten BIGINT NOT NULL,
	PRIMARY KEY (id)
);

CREATE TABLE job_counters (
	state TEXT NOT NULL,
	jobs BIGINT NOT NULL,
	PRIMARY KEY (state)
);

CREATE TABLE job_portions (
	job_id TEXT NOT NULL,
	kind TEXT NOT NULL,
	preparer TEXT NOT NULL,
	number INTEGER NOT NULL,
	lines INTEGER NOT NULL,
	is_last BOOLEAN NOT NULL,
	data BLOB NOT NULL,
	PRIMARY KEY (job_id, kind, preparer, number)
);

CREATE TABLE job_logs (
	job_id TEXT NOT NULL,
	start BIGINT NOT NULL,
	"end" BIGINT NOT NULL,
	source BIGINT NOT NULL,
	is_last BOOLEAN NOT NULL,
	data BLOB NOT NULL,
	PRIMARY KEY (job_id, start)
);

CREATE TABLE pauses (
	full_name TEXT NOT NULL,
	levels TEXT NOT NULL,
	table_uuid TEXT,
	document TEXT NOT NULL,
	PRIMARY KEY (full_name)
);

CREATE TABLE drivers (
	name TEXT NOT NULL,
	owner TEXT NOT NULL,
	token_digest TEXT NOT NULL,
	token_expires_at BIGINT NOT NULL,
	former_digest TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	fingerprint TEXT NOT NULL,
	megabytes BIGINT NOT NULL,
	handle TEXT NOT NULL,
	process TEXT NOT NULL,
	polls BIGINT NOT NULL,
	ordered BIGINT NOT NULL,
	heard BIGINT NOT NULL,
	received BIGINT NOT NULL,
	hello TEXT NOT NULL,
	fence BIGINT,
	ended_at BIGINT,
	reason TEXT NOT NULL,
	PRIMARY KEY (name)
);

CREATE TABLE processes (
	owner TEXT NOT NULL,
	beats BIGINT NOT NULL,
	seen_at BIGINT NOT NULL,
	PRIMARY KEY (owner)
);

CREATE TABLE notices (
	number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
	kind TEXT NOT NULL,
	subject TEXT NOT NULL,
	sentence TEXT NOT NULL,
	at BIGINT NOT NULL,
	job_id TEXT NOT NULL,
	held_back INTEGER NOT NULL,
	held_until BIGINT NOT NULL,
	delivered_at BIGINT
);

CREATE TABLE table_health (
	full_name TEXT NOT NULL,
	summary BLOB NOT NULL,
	detail BLOB NOT NULL,
	grade TEXT NOT NULL,
	PRIMARY KEY (full_name),
	FOREIGN KEY(full_name) REFERENCES tables (full_name) ON DELETE CASCADE
);

CREATE TABLE scan_marks (
	full_name TEXT NOT NULL,
	token TEXT NOT NULL,
	basis TEXT NOT NULL,
	PRIMARY KEY (full_name),
	FOREIGN KEY(full_name) REFERENCES tables (full_name) ON DELETE CASCADE
);

CREATE TABLE plans (
	full_name TEXT NOT NULL,
	document BLOB NOT NULL,
	PRIMARY KEY (full_name),
	FOREIGN KEY(full_name) REFERENCES tables (full_name) ON DELETE CASCADE
);

CREATE TABLE orphan_files (
	list_id TEXT NOT NULL,
	first INTEGER NOT NULL,
	document BLOB NOT NULL,
	PRIMARY KEY (list_id, first),
	FOREIGN KEY(list_id) REFERENCES orphan_lists (list_id) ON DELETE CASCADE
);

CREATE TABLE job_events (
	job_id TEXT NOT NULL,
	sequence INTEGER NOT NULL,
	at BIGINT NOT NULL,
	name TEXT NOT NULL,
	fields TEXT NOT NULL,
	PRIMARY KEY (job_id, sequence),
	FOREIGN KEY(job_id) REFERENCES jobs (job_id) ON DELETE CASCADE
)
 WITHOUT ROWID;

CREATE TABLE driver_orders (
	driver TEXT NOT NULL,
	number INTEGER NOT NULL,
	document BLOB NOT NULL,
	PRIMARY KEY (driver, number),
	FOREIGN KEY(driver) REFERENCES drivers (name) ON DELETE CASCADE
);

CREATE TABLE driver_messages (
	driver TEXT NOT NULL,
	number INTEGER NOT NULL,
	job_id TEXT NOT NULL,
	event TEXT NOT NULL,
	document BLOB NOT NULL,
	PRIMARY KEY (driver, number),
	FOREIGN KEY(driver) REFERENCES drivers (name) ON DELETE CASCADE
);

CREATE TABLE driver_jobs (
	driver TEXT NOT NULL,
	job_id TEXT NOT NULL,
	until BIGINT NOT NULL,
	PRIMARY KEY (driver, job_id),
	FOREIGN KEY(driver) REFERENCES drivers (name) ON DELETE CASCADE
);

CREATE TABLE candidates (
	full_name TEXT NOT NULL,
	position SMALLINT NOT NULL,
	document TEXT NOT NULL,
	PRIMARY KEY (full_name, position),
	FOREIGN KEY(full_name) REFERENCES plans (full_name) ON DELETE CASCADE
)
 WITHOUT ROWID;

CREATE TABLE maintainer_schema (version_num VARCHAR(32) NOT NULL PRIMARY KEY);

INSERT INTO maintainer_schema VALUES ('0001');

CREATE INDEX ix_audit_log_at ON audit_log (at);

CREATE INDEX ix_audit_log_full_name ON audit_log (full_name, sequence);

CREATE INDEX ix_audit_log_job_id ON audit_log (job_id, sequence);

CREATE INDEX ix_drivers_ended_at ON drivers (ended_at);

CREATE INDEX ix_drivers_owner ON drivers (owner);

CREATE INDEX ix_fleet_counters_namespace ON fleet_counters (namespace);

CREATE INDEX ix_health_samples_measured_at ON health_samples (measured_at);

CREATE INDEX ix_jobs_created_at ON jobs (created_at, job_id);

CREATE INDEX ix_jobs_finished_at ON jobs (finished_at);

CREATE INDEX ix_jobs_full_name ON jobs (full_name, created_at, job_id);

CREATE INDEX ix_jobs_state ON jobs (state, created_at, job_id);

CREATE INDEX ix_leases_held ON leases (table_uuid) WHERE expires_at IS NOT NULL;

CREATE INDEX ix_notices_at ON notices (at);

CREATE INDEX ix_orphan_lists_full_name ON orphan_lists (full_name, made_at);

CREATE INDEX ix_orphan_lists_table_uuid ON orphan_lists (table_uuid, state);

CREATE INDEX ix_pauses_table_uuid ON pauses (table_uuid);

CREATE INDEX ix_policy_versions_last_seen_at ON policy_versions (last_seen_at, version);

CREATE INDEX ix_spending_day ON spending (day);

CREATE INDEX ix_tables_average_file_size_bytes ON tables (average_file_size_bytes, full_name);

CREATE INDEX ix_tables_band ON tables (band, full_name);

CREATE INDEX ix_tables_band_average_file_size_bytes ON tables (band, average_file_size_bytes, full_name);

CREATE INDEX ix_tables_band_data_bytes ON tables (band, data_bytes, full_name);

CREATE INDEX ix_tables_band_data_files ON tables (band, data_files, full_name);

CREATE INDEX ix_tables_band_delete_files ON tables (band, delete_files, full_name);

CREATE INDEX ix_tables_band_manifests ON tables (band, manifests, full_name);

CREATE INDEX ix_tables_band_measured_at ON tables (band, measured_at, full_name);

CREATE INDEX ix_tables_band_need ON tables (band, need, full_name);

CREATE INDEX ix_tables_band_small_file_ratio ON tables (band, small_file_ratio, full_name);

CREATE INDEX ix_tables_band_small_files ON tables (band, small_files, full_name);

CREATE INDEX ix_tables_band_snapshots ON tables (band, snapshots, full_name);

CREATE INDEX ix_tables_catalog ON tables (catalog, full_name);

CREATE INDEX ix_tables_catalog_namespace ON tables (catalog, namespace, full_name);

CREATE INDEX ix_tables_catalog_plan ON tables (catalog, planned_under, plan_at);

CREATE INDEX ix_tables_data_bytes ON tables (data_bytes, full_name);

CREATE INDEX ix_tables_data_files ON tables (data_files, full_name);

CREATE INDEX ix_tables_delete_files ON tables (delete_files, full_name);

CREATE INDEX ix_tables_manifests ON tables (manifests, full_name);

CREATE INDEX ix_tables_measured_at ON tables (measured_at, full_name);

CREATE INDEX ix_tables_namespace ON tables (namespace);

CREATE INDEX ix_tables_need ON tables (need, full_name);

CREATE INDEX ix_tables_small_file_ratio ON tables (small_file_ratio, full_name);

CREATE INDEX ix_tables_small_files ON tables (small_files, full_name);

CREATE INDEX ix_tables_snapshots ON tables (snapshots, full_name);

CREATE INDEX ix_tables_table_uuid ON tables (table_uuid);

CREATE INDEX ix_unfinished_readings_kept_at ON unfinished_readings (kept_at);

CREATE INDEX ix_verdicts_until ON verdicts (until);

CREATE UNIQUE INDEX uq_jobs_unfinished ON jobs (table_uuid) WHERE state IN ('pending', 'submitted', 'running', 'unknown');

CREATE UNIQUE INDEX uq_verdicts_standing ON verdicts (full_name, rule) WHERE until IS NULL;
