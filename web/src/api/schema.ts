// Generated from docs/openapi.json by `npm run types`; do not edit.

export interface paths {
  "/api/v1/audit": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The audit log
     * @description Who asked (or which version of the policies), which statement ran, and with what result.
     *
     *     Entries name the snapshots that the job committed. No entry is ever deleted. Entries about
     *     several tables are shown only to people who see all tables.
     */
    get: operations["get_audit"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/catalogs": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The configured catalogs
     * @description Each catalog by name, with its sums, its scans, and the namespaces that could not be listed.
     *
     *     The sums are at most 5 seconds old. A person who sees only some tables of a catalog gets no
     *     costs of its scans.
     */
    get: operations["get_catalogs"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/catalogs/storage": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The storage of the configured catalogs
     * @description The prices and the speed of each catalog's storage, and the load of its name services.
     *
     *     All measured tables are read, at most once a minute.
     */
    get: operations["get_catalog_storage"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/events": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Measure tables that have changed
     * @description Measure the named tables at once instead of at the next scan.
     *
     *     The body has full names, or is a CloudEvent in structured mode or a batch of them.
     */
    post: operations["post_events"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/inbox": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * What needs a person
     * @description Tables that need a person, lists of orphan files to approve, and mistakes in policies.
     *
     *     Of each kind at most 200 are found. Entries about more than one table are shown only to
     *     people who may see all tables.
     */
    get: operations["get_inbox"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/jobs": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The job list
     * @description Jobs, newest first.
     */
    get: operations["get_jobs"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/jobs/{job_id}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * One job
     * @description A job with its progress or, when it has ended, its effect.
     */
    get: operations["get_job"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/jobs/{job_id}/cancel": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Cancel a job
     * @description Ask Spark to stop.
     *
     *     The job ends as cancelled when it can commit nothing more, and its rule waits then. 409 when it
     *     has ended already.
     */
    post: operations["cancel_job"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/jobs/{job_id}/events": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * A job's activity, as it happens
     * @description Server-Sent Events until the job has ended, or a list with Accept: application/json.
     *
     *     Close on `end`; reconnect when the stream ends before it.
     */
    get: operations["get_job_events"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/jobs/{job_id}/log": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * What a job's driver wrote
     * @description The job's share of its driver's log: from the start of a new driver, or where a warm one took
     *     the job, to the job's end. Other jobs of the driver write between its lines. The last 256 KiB
     *     are kept as long as the job; secrets of the settings are hidden.
     */
    get: operations["get_job_log"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/jobs/{job_id}/rollback": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Undo a job
     * @description Set the table back to its state before the job, by a job of its own, and pause it.
     *
     *     409 with the reason when that is impossible.
     */
    post: operations["roll_job_back"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/metrics-reports": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Count reads of tables
     * @description Count each report of a scan as one read of its table today: often-read tables start earlier.
     *
     *     The body is what engines send to a REST catalog, at the address of a table's metrics, or a list
     *     of such reports.
     */
    post: operations["post_metrics_reports"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/namespaces": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The namespaces in figures
     * @description Each namespace that has tables: how many, in which states, their files, bytes and bands.
     *
     *     The sums and states are some seconds old, in a large fleet ten times as long as it takes to read
     *     them.
     */
    get: operations["get_namespaces"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/notifications/test": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Send a test message to each target
     * @description Send one message to each target of notifications, without the limits on notices.
     */
    post: operations["post_test_notice"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/overview": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The fleet in figures
     * @description The sums of all tables: files, bytes, average file size, bands, jobs and savings so far.
     *
     *     The sums and the numbers of jobs are at most 5 seconds old.
     */
    get: operations["get_overview"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/overview/days": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Cost and savings by day
     * @description The cost and savings of the jobs of the fleet, a catalog or a namespace on each day.
     *
     *     A day counts as long as its jobs are kept.
     */
    get: operations["get_daily_work"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/overview/history": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The fleet over time
     * @description The sums of the fleet, of a catalog or of a namespace, oldest first.
     *
     *     They were recorded at the time, after each scan; equal sums in a row are one sample. A series
     *     of more than 500 is thinned evenly.
     */
    get: operations["get_fleet_history"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/pauses": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * What is paused
     * @description Every pause in force, also of single tables, and the jobs that still run under one.
     */
    get: operations["get_pauses"];
    put?: never;
    /**
     * Pause a scope
     * @description Start nothing more in the scope until it is resumed; `cancel` also ends its running jobs.
     */
    post: operations["post_pause"];
    /**
     * Resume a scope
     * @description Let the policies act again.
     */
    delete: operations["delete_pause"];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/policies": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The policy files in force
     * @description Every layer with its values and their lines, and the problems of files.
     *
     *     A file with a problem is not in force, contradicts another one, or selects no table.
     */
    get: operations["get_policies"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/policies/effective/{catalog}/{namespace}/{table}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The policy that governs a table
     * @description All layers merged for one table, each value with its source.
     *
     *     A source is a file and line, a table property or the default.
     */
    get: operations["get_effective_policy"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/policies/preview": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Which verdicts a policy file would change
     * @description Plan a page of the tables that the file may concern, by name, from stored health.
     *
     *     No catalog is asked and nothing is stored. After ten seconds the page ends early.
     */
    post: operations["preview_policy"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/policies/schema": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The JSON schema of a policy file
     * @description JSON Schema 2020-12, for editors and for checks before deployment.
     */
    get: operations["get_policy_schema"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/policies/suggested/{catalog}/{namespace}/{table}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * A policy for a table, from its own history
     * @description Thresholds, cooldown, retention and window, each with the figure behind it.
     *
     *     Nothing is stored. The policy is in mode observe; a person puts it into a file.
     */
    get: operations["get_suggested_policy"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/policies/tables": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The tables that a policy file applies to
     * @description By name. A narrower file may set other values for some of them.
     */
    get: operations["get_governed_tables"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/policies/validate": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Check a policy file's text
     * @description List the problems of a text, line by line; nothing is stored.
     */
    post: operations["validate_policy"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/policies/versions": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Versions of the policies
     * @description Every version in the store that was in force, the current one first.
     */
    get: operations["get_policy_versions"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/policies/versions/diff": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The differences of two versions
     * @description The changes field by field, with values as people write them.
     *
     *     Moving a value to another line or file is no change.
     */
    get: operations["get_policy_diff"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/pools": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The pools of Spark
     * @description Each pool with the versions and catalogs of its newest driver, and why it cannot run jobs.
     */
    get: operations["get_pools"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/queue": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * What happens next
     * @description The planned actions in the order in which they would start, and why those that wait do.
     *
     *     The queue is a few seconds old at most.
     */
    get: operations["get_queue"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/replicas": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The replicas that work, and their duties
     * @description Each replica that scans, plans and runs jobs; those that only serve the API have no duty.
     */
    get: operations["get_replicas"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/reports/small-files": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * What small files cost
     * @description The share of small files and their cost by namespace, and the tables to compact first.
     *
     *     The report uses the latest health of each table. Slowdowns are estimates from published
     *     measurements; requests are counted from the files.
     */
    get: operations["get_small_files_report"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/reports/small-files.csv": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * What small files cost, as CSV
     * @description The lines of the report in UTF-8; `of` says of what a line is. An unknown figure is empty.
     *
     *     A text that a spreadsheet would take for a formula begins with `'`.
     */
    get: operations["get_small_files_csv"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/session": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Who is signed in
     * @description Who sends the request, and how to sign in; answers everybody.
     */
    get: operations["get_session"];
    put?: never;
    /**
     * Sign in with a token
     * @description Answer with a cookie in place of the token, for browsers.
     */
    post: operations["start_session"];
    /**
     * Sign out
     * @description End the session, also for copies of its cookie; the provider may still know the person.
     */
    delete: operations["end_session"];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/session/callback": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Return from the provider
     * @description The end of a sign-in that this browser began here.
     */
    get: operations["finish_sign_in"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/session/sign-in": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Begin to sign in
     * @description Send the browser to the OpenID provider: code flow with PKCE.
     */
    get: operations["begin_sign_in"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/settings": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The effective configuration, without secrets
     * @description Each setting of the process that answers; other replicas may be configured differently.
     */
    get: operations["get_settings"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/status": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Is all well, and what needs a person
     * @description One sentence, the number of tables in each state, what needs a person, and the tables.
     *
     *     Each table is in exactly one state. The states are at most a few seconds old. Problems of more
     *     than one table are shown only to people who may see all tables.
     */
    get: operations["get_status"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/tables": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The table list
     * @description Known tables with their state and latest health, filtered, sorted and paged.
     *
     *     Tables without the value of the sort come last. The states are some seconds old, in a large
     *     fleet ten times as long as it takes to read them.
     */
    get: operations["get_tables"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/tables.csv": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The whole table list as CSV
     * @description All tables of the filter in the order of the sort, in UTF-8; an unknown figure is empty.
     *
     *     A text that a spreadsheet would take for a formula begins with `'`. The list is read in pages:
     *     a table that changes its place meanwhile may be missing or there twice.
     */
    get: operations["get_tables_csv"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/tables/{catalog}/{namespace}/{table}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * One table
     * @description The latest health, the findings, and the policy in force for the table.
     */
    get: operations["get_table"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/tables/{catalog}/{namespace}/{table}/expiry": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * What expiry would remove
     * @description A preview from the last measurement under the policy in force; stores and starts nothing.
     */
    get: operations["get_expiry"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/tables/{catalog}/{namespace}/{table}/history": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * A metric over time
     * @description Samples of one metric, oldest first; a series of more than 2000 is thinned evenly.
     */
    get: operations["get_history"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/tables/{catalog}/{namespace}/{table}/measure": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Measure a table now
     * @description Measure now instead of at the next scan, changed or not; the next plan uses the result.
     *
     *     A fault is kept as that of a scan is.
     */
    post: operations["post_measurement"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/tables/{catalog}/{namespace}/{table}/orphans": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Lists of orphan files
     * @description The results of orphan scans, and what was done with them.
     */
    get: operations["get_orphan_lists"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/tables/{catalog}/{namespace}/{table}/orphans/{list}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * One list of orphan files
     * @description The list with a part of its files, in order.
     */
    get: operations["get_orphan_list"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/tables/{catalog}/{namespace}/{table}/orphans/{list}/approve": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Approve a list of orphan files
     * @description The next removal takes exactly these files, except any that the table references by then.
     *
     *     409 with the reason when the list cannot be approved.
     */
    post: operations["approve_orphans"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/tables/{catalog}/{namespace}/{table}/orphans/{list}/reject": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Reject a list of orphan files
     * @description Keep all files of the list, even if it was approved before; 409 when the list is closed.
     */
    post: operations["reject_orphans"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/tables/{catalog}/{namespace}/{table}/orphans/{list}/restore": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Restore orphan files from quarantine
     * @description The next job on the table moves the files back, and never over an existing file.
     *
     *     409 when they are not in quarantine.
     */
    post: operations["restore_orphans"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/tables/{catalog}/{namespace}/{table}/partitions": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The worst partitions
     * @description The first `limit` partitions, worst first; total says how many there are.
     */
    get: operations["get_partitions"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/tables/{catalog}/{namespace}/{table}/pause": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Start nothing on a table
     * @description Start nothing on this table until it is resumed; a running job continues.
     */
    post: operations["pause_table"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/tables/{catalog}/{namespace}/{table}/pins": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Pins and other reasons to keep snapshots
     * @description Pins by name, and all keepers, beginning with the one of the oldest snapshot.
     */
    get: operations["get_pins"];
    put?: never;
    /**
     * Keep a snapshot and all newer ones
     * @description Add a pin, or replace the one of that name.
     *
     *     409 when the table does not have the snapshot. A job that runs already is not affected.
     */
    post: operations["set_pin"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/tables/{catalog}/{namespace}/{table}/pins/{name}": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    /**
     * Remove a pin
     * @description The next expiry may remove what the pin protected; 404 when there is no pin of that name.
     */
    delete: operations["remove_pin"];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/tables/{catalog}/{namespace}/{table}/plan": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The stored plan
     * @description The daemon's last decision: each rule planned or skipped, the reason, and the next check.
     */
    get: operations["get_plan"];
    put?: never;
    /**
     * A fresh dry run
     * @description Measure and decide now, optionally with the policy in the body as the last layer.
     *
     *     Nothing is stored or started.
     */
    post: operations["preview_plan"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/tables/{catalog}/{namespace}/{table}/rescue": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * How a table becomes healthy
     * @description The jobs, the days and the GB-hours until the table is healthy; nothing is started.
     *
     *     The real decision is repeated on the predicted table. It assumes that the policy
     *     is in mode enforce, that nothing is paused, that no other table needs the budgets, and that
     *     nobody writes meanwhile.
     */
    get: operations["get_rescue"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/tables/{catalog}/{namespace}/{table}/resume": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * End a pause
     * @description Let the policy act on this table again; a table that is not paused is unchanged.
     */
    post: operations["resume_table"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/tables/{catalog}/{namespace}/{table}/run": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Carry out rules now
     * @description Make a new plan and start its jobs, in any mode; without named rules, those worth doing.
     *
     *     Without jobs, the plan has the reasons.
     */
    post: operations["run_table"];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/tables/{catalog}/{namespace}/{table}/snapshots": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The snapshots that the table keeps
     * @description Snapshots of the last measurement, newest first.
     *
     *     Of more than 1000 they are thinned evenly; those with a branch, a tag, a pin or a role stay.
     */
    get: operations["get_snapshots"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/tables/{catalog}/{namespace}/{table}/verdicts": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * The history of verdicts
     * @description The verdicts on each rule with their start and end, newest first.
     *
     *     An entry begins with each change of a verdict, not with changing figures.
     */
    get: operations["get_verdicts"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/api/v1/trends": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Short histories of tables
     * @description The metric in the last 7 days, thinned evenly to at most 40 samples of each table.
     */
    get: operations["get_trends"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/livez": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Whether the process is alive
     * @description Answers as long as the process serves; checks nothing else.
     *
     *     On the probes' own port: 503 if the API's own server no longer answers.
     */
    get: operations["get_liveness"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/metrics": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Prometheus metrics
     * @description All metrics in Prometheus' text exposition.
     */
    get: operations["get_metrics"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  "/readyz": {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Whether the daemon can do its work
     * @description Each thing that the daemon needs, and whether it works; 503 when one does not.
     *
     *     Messages name catalogs and count tables: they are shown only to people who see all tables.
     */
    get: operations["get_readiness"];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
}
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    /**
     * AdmissionOut
     * @description Whether a planned action starts now, else why it waits and until when.
     */
    AdmissionOut: {
      /**
       * Ahead
       * @description Actions ahead in the queue, if it waits for a slot.
       */
      ahead: number | null;
      /** @description Why it waits; null: it starts. */
      code: components["schemas"]["WaitCode"] | null;
      /** Is Admitted */
      is_admitted: boolean;
      /**
       * Next At
       * @description When it may start at the earliest; null: when a job ends or somebody changes something.
       */
      next_at: string | null;
      /** @description The score with the waiting time so far. */
      score: components["schemas"]["ScoreOut"];
      /** Sentence */
      sentence: string;
      /**
       * Waiting Since
       * Format: date-time
       */
      waiting_since: string;
    };
    /**
     * ApprovalRequest
     * @description Approve the removal of exactly the files of a list.
     */
    ApprovalRequest: {
      /**
       * By
       * @description The person's name, for the audit log.
       * @default person
       */
      by?: string;
      /**
       * Sha256
       * @description The hash of the list; where it is given, no other list is approved.
       * @default
       */
      sha256?: string;
    };
    /**
     * AuditEntryOut
     * @description One entry of the log; `table` is null when the entry concerns several tables.
     */
    AuditEntryOut: {
      /** Actor */
      actor: string;
      /**
       * At
       * Format: date-time
       */
      at: string;
      deed: components["schemas"]["Deed"];
      /** Fields */
      fields: {
        [key: string]: unknown;
      };
      /** Job Id */
      job_id: string;
      /** Sequence */
      sequence: number;
      /** Table */
      table: string | null;
      /** Table Uuid */
      table_uuid: string;
    };
    /**
     * AuditPage
     * @description A page of the log, newest first.
     */
    AuditPage: {
      /** Items */
      items: components["schemas"]["AuditEntryOut"][];
      /** Next Cursor */
      next_cursor: string | null;
      /** Total */
      total: number;
    };
    /**
     * Band
     * @description The grade of a table, best first.
     * @enum {string}
     */
    Band: "healthy" | "watch" | "degraded" | "critical";
    /**
     * BudgetOut
     * @description A daily limit and what was spent of it today.
     */
    BudgetOut: {
      /** Limit */
      limit: number;
      /** Name */
      name: string;
      resource: components["schemas"]["Resource"];
      /** Spent */
      spent: number;
    };
    /**
     * CancelledJobOut
     * @description A job whose end was requested, and what its rule does then.
     */
    CancelledJobOut: {
      /**
       * Action
       * @description The statement that Spark runs.
       */
      action: string;
      /** Cancel Requested By */
      cancel_requested_by: string;
      /** @description The cost that was predicted. */
      cost: components["schemas"]["CostOut"] | null;
      /**
       * Created At
       * Format: date-time
       */
      created_at: string;
      /** @description null until a driver has the job. */
      driver: components["schemas"]["DriverOut"] | null;
      effect: components["schemas"]["EffectOut"] | null;
      /** Ended At */
      ended_at: string | null;
      estimate: components["schemas"]["EstimateOut"];
      /** Estimate Errors */
      estimate_errors: components["schemas"]["EstimateErrorOut"][];
      /**
       * Executor Seconds
       * @description The time of all executors that the job used, if Spark adds and removes executors; its GB-hours are computed from it. Otherwise null.
       */
      executor_seconds: number | null;
      /** Failure Message */
      failure_message: string;
      failure_reason: components["schemas"]["FailureReason"] | null;
      /** Findings */
      findings: components["schemas"]["FindingOut"][];
      /** Finished At */
      finished_at: string | null;
      /**
       * Gb Hours
       * @description The actual GB-hours; null until the job has ended.
       */
      gb_hours: number | null;
      /** Job Id */
      job_id: string;
      /** Policy */
      policy: string;
      /**
       * Pool
       * @description The pool of `spark.pools` that it runs in.
       */
      pool: string;
      progress: components["schemas"]["ProgressOut"];
      /** Reason */
      reason: string;
      /** Requested By */
      requested_by: string;
      /** Rule */
      rule: components["schemas"]["RuleName"] | components["schemas"]["Repair"];
      /** @description The score of its admission; null for a request. */
      score: components["schemas"]["ScoreOut"] | null;
      /** @description How much of Spark it gets; null: stored before sizes existed, counts as small. */
      size: components["schemas"]["JobSize"] | null;
      /** Size Reason */
      size_reason: string;
      /** Started At */
      started_at: string | null;
      state: components["schemas"]["JobState"];
      /** Submitted At */
      submitted_at: string | null;
      /** Table */
      table: string;
      /**
       * Wait
       * @description The same as a sentence, and how to end the wait.
       */
      wait: string;
      /**
       * Waits Until
       * @description When the rule may run again by itself; null if no policy runs it.
       */
      waits_until: string | null;
    };
    /** CatalogFaultOut */
    CatalogFaultOut: {
      /** Namespace */
      namespace: string;
      /** Reason */
      reason: string;
      /**
       * Seen At
       * Format: date-time
       */
      seen_at: string;
    };
    /**
     * CatalogOut
     * @description A configured catalog.
     */
    CatalogOut: {
      /** Average File Size Bytes */
      average_file_size_bytes: number | null;
      /** Bands */
      bands: {
        [key: string]: number;
      };
      /**
       * Behind Seconds
       * @description Time since the next scan was due; null before the first scan.
       */
      behind_seconds: number | null;
      /** Data Bytes */
      data_bytes: number;
      /** Data Files */
      data_files: number;
      /** Delete Files */
      delete_files: number;
      /** Faults */
      faults: components["schemas"]["CatalogFaultOut"][];
      /** Faulty Tables */
      faulty_tables: number;
      /**
       * Is Reachable
       * @description The last scan could list the catalog; null before the first scan.
       */
      is_reachable: boolean | null;
      /** Live File Ratio */
      live_file_ratio: number | null;
      /** Manifests */
      manifests: number;
      /** Measured Tables */
      measured_tables: number;
      /** Name */
      name: string;
      /**
       * Oldest Measured At
       * @description The table that was measured longest ago.
       */
      oldest_measured_at: string | null;
      /** Paused Tables */
      paused_tables: number;
      /**
       * Scans
       * @description The last scans, the newest first.
       */
      scans: components["schemas"]["ScanCostOut"][];
      /** Small Files */
      small_files: number;
      /** Snapshots */
      snapshots: number;
      /**
       * States
       * @description The number of tables in each state that has any.
       */
      states: {
        [key: string]: number;
      };
      /** Tables */
      tables: number;
      /** Type */
      type: string;
    };
    /**
     * CatalogStorageOut
     * @description The storage of a catalog's tables, and the objects of its name services.
     */
    CatalogStorageOut: {
      /** Catalog */
      catalog: string;
      /** Name Services */
      name_services: components["schemas"]["NameServiceOut"][];
      /**
       * Storages
       * @description One for each kind of storage; empty before the first measured table.
       */
      storages: components["schemas"]["StorageOut"][];
    };
    /**
     * ChangedTables
     * @description Tables by their full names.
     */
    ChangedTables: {
      /**
       * Tables
       * @example [
       *       "lake.sales.orders"
       *     ]
       */
      tables: string[];
    };
    /**
     * CheckOut
     * @description One thing that the daemon needs, and whether it works.
     */
    CheckOut: {
      /** Is Ok */
      is_ok: boolean;
      /** Message */
      message: string;
      /** Name */
      name: string;
    };
    /**
     * ContentProof
     * @description The result of comparing row checksums from before and after.
     * @enum {string}
     */
    ContentProof: "not_taken" | "equal" | "different" | "unknown";
    /**
     * CostBasis
     * @description Whose finished jobs a prediction is based on. The nearest level with jobs is used.
     * @enum {string}
     */
    CostBasis: "table" | "catalog" | "default";
    /**
     * CostOut
     * @description The expected cost of an action.
     *
     *     A GB-hour is the memory that a job occupies during an hour of Spark's work.
     */
    CostOut: {
      /** @description The finished jobs that the prediction is based on. */
      basis: components["schemas"]["CostBasis"];
      /** Duration Seconds */
      duration_seconds: number;
      /** Gb Hours */
      gb_hours: number;
      /**
       * Gb Hours P90
       * @description The amount that budgets are charged with until the job has ended.
       */
      gb_hours_p90: number;
      /**
       * Samples
       * @description The number of these jobs.
       */
      samples: number;
    };
    /**
     * DailyWorkOut
     * @description The days that had jobs, oldest first.
     */
    DailyWorkOut: {
      /**
       * Budgets
       * @description The limits of the fleet and of catalogs; empty for a person who does not see all tables.
       */
      budgets: components["schemas"]["BudgetOut"][];
      /** Catalog */
      catalog: string | null;
      /** Days */
      days: components["schemas"]["DayOut"][];
      /** Namespace */
      namespace: string | null;
    };
    /**
     * DayOut
     * @description One day in UTC. A job counts for the day on which it was admitted.
     */
    DayOut: {
      /** Bytes Rewritten */
      bytes_rewritten: number;
      /**
       * Day
       * @description Such as 2026-11-21.
       */
      day: string;
      /**
       * Files Removed
       * @description Data files, net.
       */
      files_removed: number;
      /**
       * Gb Hours
       * @description Predicted for unfinished jobs, actual for finished ones.
       */
      gb_hours: number;
      /**
       * Requests Saved
       * @description Requests that one full read of each maintained table no longer makes: for data files, delete files and manifests.
       */
      requests_saved: number;
    };
    /**
     * DecisionRequest
     * @description Reject a list, or request that its files be restored.
     */
    DecisionRequest: {
      /**
       * By
       * @description The person's name, for the audit log.
       * @default person
       */
      by?: string;
    };
    /**
     * Deed
     * @description What was done, as noun.verb: a closed set.
     * @enum {string}
     */
    Deed:
      | "job.requested"
      | "job.submitted"
      | "statement.started"
      | "job.cancel_requested"
      | "job.ended"
      | "work.paused"
      | "work.resumed"
      | "paused_table.gone"
      | "orphans.approved"
      | "orphans.rejected"
      | "orphans.restore_requested"
      | "snapshot.pinned"
      | "snapshot.unpinned";
    /**
     * DisagreementOut
     * @description A figure in the metadata that differs from the manifests' entries.
     */
    DisagreementOut: {
      /** Claimed */
      claimed: number;
      /** Counted */
      counted: number;
      /** Figure */
      figure: string;
      /** Source */
      source: string;
    };
    /**
     * DriverOut
     * @description The driver that has or had a job; an empty text and null are unknown.
     */
    DriverOut: {
      /**
       * Application Id
       * @description Spark's id of the application.
       */
      application_id: string;
      /**
       * Host
       * @description Where the driver runs; of a pod its name.
       */
      host: string;
      /** Iceberg */
      iceberg: string;
      /** Java */
      java: string;
      /** Name */
      name: string;
      /** Pod */
      pod: string;
      /**
       * Process
       * @description Its number on the host.
       */
      process: number | null;
      /** Scala */
      scala: string;
      /**
       * Spark
       * @description Its version, as the three below.
       */
      spark: string;
      /**
       * Ui Url
       * @description Spark's page of the application, by the setting spark.ui_url.
       */
      ui_url: string;
    };
    /**
     * DutyKind
     * @description What the work is.
     * @enum {string}
     */
    DutyKind: "work" | "scan" | "plan" | "queue" | "notices" | "prune" | "policy_status";
    /**
     * DutyOut
     * @description Work that one replica at a time does for all.
     */
    DutyOut: {
      /**
       * Catalog
       * @description Null for a duty of the whole fleet.
       */
      catalog: string | null;
      kind: components["schemas"]["DutyKind"];
    };
    /** EffectOut */
    EffectOut: {
      after: components["schemas"]["MeasurementOut"];
      before: components["schemas"]["MeasurementOut"];
      /** Bytes Rewritten */
      bytes_rewritten: number;
      /**
       * Canary Files
       * @description New files of the job that were read again; null: not requested, or not possible.
       */
      canary_files?: number | null;
      /**
       * @description The result of comparing row checksums, if the policy requests them.
       * @default not_taken
       */
      contents?: components["schemas"]["ContentProof"];
      /** Delete Files Removed */
      delete_files_removed: number;
      /**
       * Difference
       * @description How the result differs from the estimate, and why; empty if it does not.
       * @default
       */
      difference?: string;
      /** Duration Seconds */
      duration_seconds: number | null;
      /**
       * Failed Proofs
       * @description Why the result of the job is wrong.
       * @default []
       */
      failed_proofs?: string[];
      /** Files Removed */
      files_removed: number;
      /** Manifests Removed */
      manifests_removed: number;
      /** Orphan Bytes Removed */
      orphan_bytes_removed: number;
      /** Orphans Listed */
      orphans_listed: number;
      /** Orphans Removed */
      orphans_removed: number;
      /** Other Commits */
      other_commits: number;
      /** Own Commits */
      own_commits: number;
      rows: components["schemas"]["RowProof"];
      /** Rows After */
      rows_after: number | null;
      /** Rows Before */
      rows_before: number | null;
      /** Sentence */
      sentence: string;
      /** Snapshots Removed */
      snapshots_removed: number;
    };
    /** EffectivePolicyOut */
    EffectivePolicyOut: {
      mode: components["schemas"]["Mode"];
      /** Priority */
      priority: number;
      /**
       * Problems
       * @default []
       */
      problems?: components["schemas"]["PolicyProblemOut"][];
      /** Rules */
      rules: components["schemas"]["RuleName"][];
      /** Table */
      table: string;
      /** Values */
      values: components["schemas"]["PolicyValueOut"][];
      /** Version */
      version: string;
    };
    /**
     * EstimateErrorOut
     * @description An estimate of a job, and the actual figure.
     */
    EstimateErrorOut: {
      /** Actual */
      actual: number;
      /** Estimated */
      estimated: number;
      /**
       * Note
       * @description Why the estimate could not be better, such as a first run.
       */
      note: string;
      quantity: components["schemas"]["Quantity"];
      /**
       * Ratio
       * @description (estimated - actual) / actual; null if the actual figure is 0.
       */
      ratio: number | null;
    };
    /**
     * EstimateOut
     * @description The expected result of an action; items are files, manifests or snapshots.
     */
    EstimateOut: {
      /** Bytes Rewritten */
      bytes_rewritten: number;
      /**
       * Error Bound
       * @description By how many items_after and items_removed may be wrong; the note says why.
       */
      error_bound: number;
      /** Items After */
      items_after: number;
      /** Items Before */
      items_before: number;
      /** Items Removed */
      items_removed: number;
      /** Note */
      note: string;
      /** Partitions */
      partitions: number;
    };
    /**
     * EventsTaken
     * @description The result for the tables.
     */
    EventsTaken: {
      /**
       * Left To Scans
       * @description Tables that are unknown here or on which you are not an operator, and those that exceed the number of waiting tables. The next scan finds what has changed.
       */
      left_to_scans: string[];
      /** Measured Soon */
      measured_soon: string[];
    };
    /**
     * ExpiryOut
     * @description The snapshots that expire_snapshots would remove now, simulated on the metadata.
     */
    ExpiryOut: {
      /**
       * Action
       * @description The CALL statement.
       */
      action: string;
      /**
       * Bytes Freed
       * @description An estimate; null if the snapshots' summaries are incomplete.
       */
      bytes_freed: number | null;
      /**
       * Is Slice
       * @description More snapshots are old enough; later runs expire them.
       */
      is_slice: boolean;
      /** @description The pins, branches and tags that protect the other snapshots. */
      keeper: components["schemas"]["KeeperOut"] | null;
      /** Refs */
      refs: string[];
      /**
       * Refusal
       * @description Why no snapshot may expire.
       */
      refusal: string | null;
      /** Sentence */
      sentence: string;
      /**
       * Snapshot Ids
       * @description The oldest first; at most 1000.
       */
      snapshot_ids: string[];
      /** Snapshots */
      snapshots: number;
    };
    /**
     * FailureReason
     * @description Why a job failed: a closed set, so that it can be the label of a metric.
     * @enum {string}
     */
    FailureReason:
      | "conflict"
      | "out_of_memory"
      | "missing_file"
      | "permission"
      | "catalog_unreachable"
      | "invalid_request"
      | "table_changed"
      | "lost_runner"
      | "runner_unavailable"
      | "timeout"
      | "unproved"
      | "other";
    /**
     * FaultKind
     * @description Why a listed name has no inventory.
     * @enum {string}
     */
    FaultKind:
      | "view"
      | "dropped"
      | "metadata_missing"
      | "metadata_corrupt"
      | "catalog_unavailable"
      | "access_denied"
      | "unsupported"
      | "failed";
    /** FaultOut */
    FaultOut: {
      kind: components["schemas"]["FaultKind"];
      /** Reason */
      reason: string;
      /**
       * Seen At
       * Format: date-time
       */
      seen_at: string;
    };
    /**
     * FindingOut
     * @description A figure of a table that crosses a bound.
     */
    FindingOut: {
      /** Bound */
      bound: number;
      /**
       * Is Actionable
       * @description False: it crosses the bound, but maintenance would not change it.
       */
      is_actionable: boolean;
      /** Metric */
      metric: string;
      /** Observed */
      observed: number;
      /** Sentence */
      sentence: string;
      severity: components["schemas"]["Band"];
    };
    /**
     * FleetHistory
     * @description The sums of a namespace, a catalog or the fleet over time, oldest first.
     */
    FleetHistory: {
      /** Catalog */
      catalog: string | null;
      /** Namespace */
      namespace: string | null;
      /** Samples */
      samples: components["schemas"]["FleetSampleOut"][];
    };
    /**
     * FleetPreview
     * @description The tables whose verdicts would change, of the `looked_at` tables on this page.
     *
     *     `total` is the number of all tables that the policy may concern.
     */
    FleetPreview: {
      /**
       * Gb Hours
       * @description The predicted cost of all actions here that would be newly planned.
       */
      gb_hours: number;
      /** Items */
      items: components["schemas"]["TablePreviewOut"][];
      /** Looked At */
      looked_at: number;
      /** Next Cursor */
      next_cursor: string | null;
      /** Total */
      total: number;
      /** Unmeasured */
      unmeasured: number;
    };
    /**
     * FleetSampleOut
     * @description Sums that were valid from `at` until the next sample.
     */
    FleetSampleOut: {
      /**
       * At
       * Format: date-time
       */
      at: string;
      /** Average File Size Bytes */
      average_file_size_bytes: number | null;
      /** Bands */
      bands: {
        [key: string]: number;
      };
      /** Data Bytes */
      data_bytes: number;
      /** Data Files */
      data_files: number;
      /** Delete Files */
      delete_files: number;
      /** Faulty Tables */
      faulty_tables: number;
      /** Live File Ratio */
      live_file_ratio: number | null;
      /** Manifests */
      manifests: number;
      /** Measured Tables */
      measured_tables: number;
      /** Paused Tables */
      paused_tables: number;
      /** Small Files */
      small_files: number;
      /** Snapshots */
      snapshots: number;
      /** Tables */
      tables: number;
    };
    /**
     * GovernedTables
     * @description Names of the tables that a policy file applies to.
     */
    GovernedTables: {
      /** Items */
      items: string[];
      /** Next Cursor */
      next_cursor: string | null;
      /** Total */
      total: number;
    };
    /**
     * GrantOut
     * @description A role, and what the names of its tables begin with; "" is all tables.
     */
    GrantOut: {
      /** Prefixes */
      prefixes: string[];
      role: components["schemas"]["Role"];
    };
    /**
     * HistogramBin
     * @description Data files with from_bytes <= size < to_bytes (None: no upper bound).
     */
    HistogramBin: {
      /**
       * Bytes
       * @description Of these files; null of older scans.
       */
      bytes: number | null;
      /** Files */
      files: number;
      /** From Bytes */
      from_bytes: number;
      /** To Bytes */
      to_bytes: number | null;
    };
    /** History */
    History: {
      /** Metric */
      metric: string;
      /** Samples */
      samples: components["schemas"]["Sample"][];
      /** Table */
      table: string;
    };
    /**
     * ImpactOut
     * @description The cost of the table's files, estimated from published measurements.
     */
    ImpactOut: {
      /**
       * Is Beyond Measured
       * @description Files are smaller than the smallest measured size: the real cost may be higher.
       */
      is_beyond_measured: boolean;
      /**
       * List Cost
       * @description Of listing all files once.
       */
      list_cost: number | null;
      /** @description HDFS only; at least. */
      name_node: components["schemas"]["NameNodeOut"] | null;
      profile: components["schemas"]["StorageProfile"];
      /**
       * Reference File Size Bytes
       * @description Of the files that the slowdown is relative to.
       */
      reference_file_size_bytes: number;
      /**
       * Request Cost Per Scan
       * @description At the configured price; null without one.
       */
      request_cost_per_scan: number | null;
      /** Request Cost Per Scan After Compaction */
      request_cost_per_scan_after_compaction: number | null;
      /** Request Cost Per Scan At Target */
      request_cost_per_scan_at_target: number | null;
      /**
       * Requests After Compaction
       * @description The present partitions compacted; files of different partitions stay apart.
       */
      requests_after_compaction: number;
      /** Requests At Target */
      requests_at_target: number;
      /**
       * Requests Per Scan
       * @description Requests of a full read; a lower bound.
       */
      requests_per_scan: number;
      /**
       * Round Trip Seconds
       * @description Of all requests, as many at the same time as the storage takes.
       */
      round_trip_seconds: number;
      /**
       * Scan Seconds
       * @description Bytes by the bandwidth, and the round trips.
       */
      scan_seconds: number;
      /** Scan Seconds At Target */
      scan_seconds_at_target: number;
      /** Slowdown High */
      slowdown_high: number;
      /**
       * Slowdown Low
       * @description Query time relative to files of the reference size.
       */
      slowdown_low: number;
      /** Source */
      source: string;
      storage: components["schemas"]["StorageOut"];
      /**
       * Storage Cost Per Month
       * @description Of the live files.
       */
      storage_cost_per_month: number | null;
      /**
       * Write Cost
       * @description Of one PUT request for each of these files.
       */
      write_cost: number | null;
    };
    /**
     * InboxEntryOut
     * @description One problem that only a person can resolve.
     */
    InboxEntryOut: {
      kind: components["schemas"]["InboxKind"];
      /**
       * Reference
       * @description The id of an orphan list or a job, or empty.
       */
      reference: string;
      /** Sentence */
      sentence: string;
      /** Since */
      since: string | null;
      /**
       * Subject
       * @description The name of a table or a catalog, or the source of a policy.
       */
      subject: string;
      /**
       * Table
       * @description catalog.namespace.table
       */
      table: string | null;
    };
    /**
     * InboxKind
     * @description Why a person is needed, the most urgent first.
     * @enum {string}
     */
    InboxKind:
      | "paused"
      | "unreadable"
      | "damaged"
      | "catalog"
      | "runner"
      | "failing"
      | "unmaintained"
      | "policy"
      | "approval"
      | "shared"
      | "observed";
    /**
     * InboxOut
     * @description The first entries, the most urgent kind first; total is the number of all.
     */
    InboxOut: {
      /** Items */
      items: components["schemas"]["InboxEntryOut"][];
      /** Total */
      total: number;
    };
    /** JobEventOut */
    JobEventOut: {
      /**
       * At
       * Format: date-time
       */
      at: string;
      /** Fields */
      fields: {
        [key: string]: unknown;
      };
      /** Name */
      name: string;
      /** Sequence */
      sequence: number;
    };
    /**
     * JobLogOut
     * @description A piece of a job's log; positions are characters since its start.
     */
    JobLogOut: {
      /**
       * Next
       * @description The position after the text.
       */
      next: number;
      /**
       * Start
       * @description Of the text; greater than `since` where older lines are deleted.
       */
      start: number;
      /**
       * State
       * @description waiting: no driver has written anything yet; none: no log was kept, or it is deleted. Nothing follows after complete and none.
       * @enum {string}
       */
      state: "waiting" | "growing" | "complete" | "none";
      /**
       * Text
       * @description Whole lines; empty when there is nothing new.
       */
      text: string;
    };
    /** JobOut */
    JobOut: {
      /**
       * Action
       * @description The statement that Spark runs.
       */
      action: string;
      /** Cancel Requested By */
      cancel_requested_by: string;
      /** @description The cost that was predicted. */
      cost: components["schemas"]["CostOut"] | null;
      /**
       * Created At
       * Format: date-time
       */
      created_at: string;
      /** @description null until a driver has the job. */
      driver: components["schemas"]["DriverOut"] | null;
      effect: components["schemas"]["EffectOut"] | null;
      /** Ended At */
      ended_at: string | null;
      estimate: components["schemas"]["EstimateOut"];
      /** Estimate Errors */
      estimate_errors: components["schemas"]["EstimateErrorOut"][];
      /**
       * Executor Seconds
       * @description The time of all executors that the job used, if Spark adds and removes executors; its GB-hours are computed from it. Otherwise null.
       */
      executor_seconds: number | null;
      /** Failure Message */
      failure_message: string;
      failure_reason: components["schemas"]["FailureReason"] | null;
      /** Findings */
      findings: components["schemas"]["FindingOut"][];
      /** Finished At */
      finished_at: string | null;
      /**
       * Gb Hours
       * @description The actual GB-hours; null until the job has ended.
       */
      gb_hours: number | null;
      /** Job Id */
      job_id: string;
      /** Policy */
      policy: string;
      /**
       * Pool
       * @description The pool of `spark.pools` that it runs in.
       */
      pool: string;
      progress: components["schemas"]["ProgressOut"];
      /** Reason */
      reason: string;
      /** Requested By */
      requested_by: string;
      /** Rule */
      rule: components["schemas"]["RuleName"] | components["schemas"]["Repair"];
      /** @description The score of its admission; null for a request. */
      score: components["schemas"]["ScoreOut"] | null;
      /** @description How much of Spark it gets; null: stored before sizes existed, counts as small. */
      size: components["schemas"]["JobSize"] | null;
      /** Size Reason */
      size_reason: string;
      /** Started At */
      started_at: string | null;
      state: components["schemas"]["JobState"];
      /** Submitted At */
      submitted_at: string | null;
      /** Table */
      table: string;
    };
    /**
     * JobPage
     * @description A page of jobs, newest first.
     */
    JobPage: {
      /** Items */
      items: components["schemas"]["JobOut"][];
      /** Next Cursor */
      next_cursor: string | null;
      /** Total */
      total: number;
    };
    /**
     * JobSize
     * @description The profile that a job runs in, smallest first.
     * @enum {string}
     */
    JobSize: "small" | "medium" | "large";
    /**
     * JobState
     * @description The state of a job.
     * @enum {string}
     */
    JobState:
      "pending" | "submitted" | "running" | "succeeded" | "failed" | "cancelled" | "unknown";
    /**
     * KeeperOut
     * @description A snapshot that is protected together with all newer ones, and by whom.
     */
    KeeperOut: {
      /**
       * Committed At
       * Format: date-time
       */
      committed_at: string;
      /** Reason */
      reason: string;
      /** Snapshot Id */
      snapshot_id: string;
    };
    /** Liveness */
    Liveness: {
      /**
       * Status
       * @default alive
       * @constant
       */
      status?: "alive";
    };
    /**
     * ManifestGroupOut
     * @description Manifests of one partition spec and content.
     */
    ManifestGroupOut: {
      /** Bytes */
      bytes: number;
      /**
       * Content
       * @enum {string}
       */
      content: "data" | "deletes";
      /** Count */
      count: number;
      /**
       * Ideal
       * @description Manifests of the target size that would hold the same bytes.
       */
      ideal: number | null;
      /** Spec Id */
      spec_id: number;
    };
    /** MeasurementOut */
    MeasurementOut: {
      /** Average File Size Bytes */
      average_file_size_bytes: number | null;
      /** Data Bytes */
      data_bytes: number | null;
      /** Data Files */
      data_files: number | null;
      /** Delete Files */
      delete_files: number | null;
      /**
       * Histogram
       * @description Data files in each bin of the table's histogram; empty: unknown.
       */
      histogram: number[];
      /**
       * Histogram Bytes
       * @description Of the files in these bins; empty: unknown.
       */
      histogram_bytes: number[];
      /** Manifest Bytes */
      manifest_bytes: number | null;
      /** Manifests */
      manifests: number | null;
      /**
       * Measured At
       * Format: date-time
       */
      measured_at: string;
      /** Records */
      records: number | null;
      /** Snapshot Id */
      snapshot_id: string | null;
      /** Snapshots */
      snapshots: number;
    };
    /**
     * MetricsReport
     * @description A report as Iceberg's REST API defines it; its figures are not read.
     */
    MetricsReport: {
      /**
       * Report-Type
       * @example scan-report
       */
      "report-type": string;
      /**
       * Table-Name
       * @description With the engine's name of the catalog first.
       * @example lake.sales.orders
       */
      "table-name": string;
    };
    /**
     * Mode
     * @description Whether plans are only shown or also run.
     * @enum {string}
     */
    Mode: "observe" | "enforce";
    /**
     * NameNodeOut
     * @description Objects in the memory of a name node, and its heap; lower bounds.
     */
    NameNodeOut: {
      /** Blocks */
      blocks: number;
      /** Directories */
      directories: number;
      /** Files */
      files: number;
      /** Heap Bytes */
      heap_bytes: number;
      /**
       * Heap Bytes With Snapshots
       * @description With HDFS snapshots of the directories: 1.3 times as much.
       */
      heap_bytes_with_snapshots: number;
      /** Objects */
      objects: number;
    };
    /**
     * NameServiceOut
     * @description The load of the tables of one name service of HDFS.
     */
    NameServiceOut: {
      load: components["schemas"]["NameNodeOut"];
      /** Name */
      name: string;
      /** Sentence */
      sentence: string;
      /** Tables */
      tables: number;
      /**
       * Unknown Tables
       * @description Tables whose files are not known; they add nothing.
       */
      unknown_tables: number;
    };
    /**
     * NamespaceOut
     * @description A namespace without its nested namespaces.
     */
    NamespaceOut: {
      /** Average File Size Bytes */
      average_file_size_bytes: number | null;
      /** Bands */
      bands: {
        [key: string]: number;
      };
      /** Catalog */
      catalog: string;
      /** Data Bytes */
      data_bytes: number;
      /** Data Files */
      data_files: number;
      /** Delete Files */
      delete_files: number;
      /** Faulty Tables */
      faulty_tables: number;
      /** Live File Ratio */
      live_file_ratio: number | null;
      /** Manifests */
      manifests: number;
      /** Measured Tables */
      measured_tables: number;
      /** Namespace */
      namespace: string;
      /** Paused Tables */
      paused_tables: number;
      /** Small Files */
      small_files: number;
      /** Snapshots */
      snapshots: number;
      /**
       * States
       * @description The number of tables in each state that has any.
       */
      states: {
        [key: string]: number;
      };
      /** Tables */
      tables: number;
    };
    /**
     * NamespacePage
     * @description A page of namespaces, by catalog and name.
     */
    NamespacePage: {
      /** Items */
      items: components["schemas"]["NamespaceOut"][];
      /** Next Cursor */
      next_cursor: string | null;
      /** Total */
      total: number;
    };
    /**
     * NeedOut
     * @description One problem that only a person can resolve, and the command that helps with it.
     */
    NeedOut: {
      /** Command */
      command: string;
      kind: components["schemas"]["InboxKind"];
      /**
       * Reference
       * @description The id of an orphan list or a job, or empty.
       */
      reference: string;
      /** Sentence */
      sentence: string;
      /** Since */
      since: string | null;
      /**
       * Subject
       * @description The name of a table or a catalog, or the source of a policy.
       */
      subject: string;
      /**
       * Table
       * @description catalog.namespace.table
       */
      table: string | null;
    };
    /**
     * OrphanFileOut
     * @description One file of a list; null is unknown.
     */
    OrphanFileOut: {
      /** Modified At */
      modified_at: string | null;
      /** Path */
      path: string;
      /** Size Bytes */
      size_bytes: number | null;
    };
    /**
     * OrphanFiles
     * @description A list with a page of its files.
     */
    OrphanFiles: {
      /** Files */
      files: components["schemas"]["OrphanFileOut"][];
      list: components["schemas"]["OrphanListOut"];
      /**
       * Next After
       * @description The value of `after` for the next page; null on the last page.
       */
      next_after: number | null;
    };
    /**
     * OrphanListOut
     * @description The orphan files that one scan found; they never change, and `sha256` is their hash.
     */
    OrphanListOut: {
      /** Bytes */
      bytes: number;
      /** Decided At */
      decided_at: string | null;
      /** Decided By */
      decided_by: string;
      /**
       * Expires At
       * Format: date-time
       * @description When the time for the approval ends; for an approved list, when the approval ends.
       */
      expires_at: string;
      /** Files */
      files: number;
      /**
       * Is Expired
       * @description The time for the approval, or the approval itself, has expired.
       */
      is_expired: boolean;
      /**
       * Kept Files
       * @description Files that were found and must be kept.
       */
      kept_files: number;
      /** List Id */
      list_id: string;
      /** Location */
      location: string;
      /**
       * Made At
       * Format: date-time
       */
      made_at: string;
      /**
       * Older Than
       * Format: date-time
       */
      older_than: string;
      /**
       * On Approval
       * @description What an approval of the list allows.
       */
      on_approval: string;
      /**
       * Refusal
       * @description Why no file of the list may be removed.
       */
      refusal: string | null;
      /** Removed At */
      removed_at: string | null;
      /**
       * Removed By
       * @description The id of the job that carried it out.
       */
      removed_by: string;
      /** Removed Bytes */
      removed_bytes: number;
      /** Removed Files */
      removed_files: number;
      /** Sha256 */
      sha256: string;
      state: components["schemas"]["OrphanListState"];
      /** Warning */
      warning: string | null;
    };
    /**
     * OrphanListState
     * @description The state of an orphan list.
     * @enum {string}
     */
    OrphanListState:
      | "refused"
      | "waiting"
      | "approved"
      | "rejected"
      | "superseded"
      | "removed"
      | "quarantined"
      | "restoring"
      | "restored"
      | "emptied";
    /**
     * OrphanLists
     * @description The lists of tables of this name, newest first; at most 100.
     */
    OrphanLists: {
      /** Items */
      items: components["schemas"]["OrphanListOut"][];
    };
    /**
     * OutlookKind
     * @description The kinds of outlook.
     * @enum {string}
     */
    OutlookKind: "running" | "paused" | "planned" | "waiting" | "idle" | "unknown";
    /**
     * OutlookOut
     * @description The present and the next event on a table.
     */
    OutlookOut: {
      job: components["schemas"]["UnfinishedJobOut"] | null;
      kind: components["schemas"]["OutlookKind"];
      /**
       * Next At
       * @description The next check of what is not started; null: when the table or its policy changes.
       */
      next_at: string | null;
      /** Sentence */
      sentence: string;
      /**
       * Why
       * @description Why nothing starts; empty where the sentence says it, and where something does.
       */
      why: string;
    };
    /**
     * OverviewOut
     * @description The fleet.
     */
    OverviewOut: {
      /** Average File Size Bytes */
      average_file_size_bytes: number | null;
      /** Bands */
      bands: {
        [key: string]: number;
      };
      /**
       * Bytes Rewritten
       * @description By all jobs; null for a person who does not see all tables.
       */
      bytes_rewritten: number | null;
      /** Data Bytes */
      data_bytes: number;
      /** Data Files */
      data_files: number;
      /** Delete Files */
      delete_files: number;
      /** Faulty Tables */
      faulty_tables: number;
      /**
       * Files Removed
       * @description By all jobs; null for a person who does not see all tables.
       */
      files_removed: number | null;
      /** Jobs */
      jobs: {
        [key: string]: number;
      };
      /** Last Measured At */
      last_measured_at: string | null;
      /** Live File Ratio */
      live_file_ratio: number | null;
      /** Manifests */
      manifests: number;
      /**
       * Manifests Removed
       * @description By all jobs; null for a person who does not see all tables.
       */
      manifests_removed: number | null;
      /** Measured Tables */
      measured_tables: number;
      /** Paused Tables */
      paused_tables: number;
      /** Small Files */
      small_files: number;
      /** Snapshots */
      snapshots: number;
      /**
       * Snapshots Removed
       * @description By all jobs; null for a person who does not see all tables.
       */
      snapshots_removed: number | null;
      /** Tables */
      tables: number;
      /** Version */
      version: string;
    };
    /**
     * PartitionAdviceOut
     * @description Advice on too fine partitions, where most files stay small in spite of all maintenance.
     */
    PartitionAdviceOut: {
      /**
       * Average Bytes
       * @description Of these.
       */
      average_bytes: number;
      /**
       * Better
       * @description Partition fields that would help; empty: none at all, or other columns.
       */
      better: string;
      /** Better Average Bytes */
      better_average_bytes: number;
      /** Better Partitions */
      better_partitions: number;
      /**
       * Files Left
       * @description Small files that the best rewrite leaves.
       */
      files_left: number;
      /**
       * Partitions
       * @description That are too small to fill one file.
       */
      partitions: number;
      /**
       * Sentence
       * @description The cause and what would help.
       */
      sentence: string;
    };
    /** PartitionOut */
    PartitionOut: {
      /** Average File Size Bytes */
      average_file_size_bytes: number | null;
      /** @description From the average file size and the built-in bounds only; null: no files. */
      band: components["schemas"]["Band"] | null;
      /** Data Bytes */
      data_bytes: number;
      /** Data Files */
      data_files: number;
      /** Delete Files */
      delete_files: number;
      /** Large Files */
      large_files: number;
      /** Partition */
      partition: string;
      /**
       * Skew
       * @description Data bytes / mean of all partitions.
       */
      skew: number | null;
      /** Small Bytes */
      small_bytes: number;
      /** Small Files */
      small_files: number;
      /** Spec Id */
      spec_id: number;
    };
    /**
     * PartitionPage
     * @description The worst partitions; total counts partitions with files, next_cursor is always null.
     */
    PartitionPage: {
      /** Items */
      items: components["schemas"]["PartitionOut"][];
      /** Next Cursor */
      next_cursor: string | null;
      /** Total */
      total: number;
    };
    /** PauseOut */
    PauseOut: {
      /**
       * At
       * Format: date-time
       */
      at: string;
      /** By */
      by: string;
      /** Reason */
      reason: string;
    };
    /** PauseRequest */
    PauseRequest: {
      /**
       * Reason
       * @default
       */
      reason?: string;
    };
    /**
     * PausesOut
     * @description Every pause in force, and the jobs that still run under one.
     */
    PausesOut: {
      /**
       * Is Drained
       * @description The drain is complete: no job runs.
       */
      is_drained: boolean;
      /** Is Draining */
      is_draining: boolean;
      /** Items */
      items: components["schemas"]["ScopePauseOut"][];
      /**
       * Running Jobs
       * @description Jobs on tables that a pause covers, oldest first.
       */
      running_jobs: string[];
    };
    /**
     * PinList
     * @description The pins, and all that protects snapshots: pins, table properties, tags, Flink, audits.
     */
    PinList: {
      /** Keepers */
      keepers: components["schemas"]["KeeperOut"][];
      /** Pins */
      pins: components["schemas"]["PinOut"][];
    };
    /**
     * PinOut
     * @description A pin; is_held is false when it has expired or the table no longer has the snapshot.
     */
    PinOut: {
      /** By */
      by: string;
      /** Is Held */
      is_held: boolean;
      /**
       * Made At
       * Format: date-time
       */
      made_at: string;
      /** Name */
      name: string;
      /** Snapshot Id */
      snapshot_id: string;
      /** Until */
      until: string | null;
    };
    /**
     * PinRequest
     * @description Protect a snapshot and all newer ones from expiry.
     */
    PinRequest: {
      /**
       * By
       * @description Who needs the snapshot; shown where the pin delays a rule.
       * @default person
       */
      by?: string;
      /**
       * Name
       * @description Letters, digits, dots, dashes and underscores; a pin of that name is replaced.
       */
      name: string;
      /** Snapshot Id */
      snapshot_id: string;
      /**
       * Until
       * @description RFC 3339; without it the pin lasts until it is removed.
       */
      until?: string | null;
    };
    /**
     * PlanOut
     * @description The verdicts on one table at one snapshot under one policy.
     */
    PlanOut: {
      /**
       * Made At
       * Format: date-time
       */
      made_at: string;
      mode: components["schemas"]["Mode"];
      /** Planned */
      planned: components["schemas"]["PlannedOut"][];
      /**
       * Policy
       * @description Version (content hash) of the effective policy.
       */
      policy: string;
      /**
       * Pool
       * @description The pool of `spark.pools` that the table's jobs run in.
       */
      pool: string;
      /** Skipped */
      skipped: components["schemas"]["SkippedOut"][];
      /** Snapshot Id */
      snapshot_id: string | null;
      /** Table */
      table: string;
    };
    /**
     * PlannedOut
     * @description A planned rule.
     */
    PlannedOut: {
      /**
       * Action
       * @description The CALL statement that would run.
       */
      action: string;
      /** @description Why not now, when next; null in a dry run. */
      admission: components["schemas"]["AdmissionOut"] | null;
      cost: components["schemas"]["CostOut"] | null;
      estimate: components["schemas"]["EstimateOut"];
      /** Findings */
      findings: components["schemas"]["FindingOut"][];
      /** Reason */
      reason: string;
      rule: components["schemas"]["RuleName"];
      /** @description The score without the waiting time. */
      score: components["schemas"]["ScoreOut"] | null;
      /**
       * Sentence
       * @description The verdict in words, with its reason.
       */
      sentence: string;
      /** @description How much of Spark its job gets; null in plans from before sizes existed. */
      size: components["schemas"]["JobSize"] | null;
      /** Size Reason */
      size_reason: string;
    };
    /**
     * PolicyChangeOut
     * @description One changed field of one layer, as people write it; null where a version lacks it.
     */
    PolicyChangeOut: {
      /** After */
      after: string | null;
      /** Before */
      before: string | null;
      /** Layer */
      layer: string;
      /** Path */
      path: string;
      /** Source After */
      source_after: string | null;
      /** Source Before */
      source_before: string | null;
    };
    /**
     * PolicyDiff
     * @description The changes from the version `before` to the version `after`.
     */
    PolicyDiff: {
      /** After */
      after: string;
      /** Before */
      before: string;
      /** Changes */
      changes: components["schemas"]["PolicyChangeOut"][];
    };
    /** PolicyLayerOut */
    PolicyLayerOut: {
      /** Name */
      name: string;
      /** Tables */
      tables: string[];
      /** Values */
      values: components["schemas"]["PolicyValueOut"][];
    };
    /** PolicyProblemOut */
    PolicyProblemOut: {
      /** Message */
      message: string;
      /** Source */
      source: string;
    };
    /** PolicySetOut */
    PolicySetOut: {
      /** Layers */
      layers: components["schemas"]["PolicyLayerOut"][];
      /** Problems */
      problems: components["schemas"]["PolicyProblemOut"][];
      /** Version */
      version: string;
    };
    /**
     * PolicyText
     * @description A policy file's text, as YAML.
     */
    PolicyText: {
      /** Yaml */
      yaml: string;
    };
    /**
     * PolicyValueOut
     * @description One value of the policy in force, and where it was written.
     */
    PolicyValueOut: {
      /**
       * Built In
       * @description The value where nothing sets it; null: none.
       */
      built_in: string | null;
      /**
       * Is Built In
       * @description True when no file, table property or person set it.
       */
      is_built_in: boolean;
      /** Path */
      path: string;
      /** Source */
      source: string;
      /** Value */
      value: string;
    };
    /** PolicyVerdict */
    PolicyVerdict: {
      /** Is Valid */
      is_valid: boolean;
      /** Problems */
      problems: components["schemas"]["PolicyProblemOut"][];
    };
    /**
     * PolicyVersionOut
     * @description Policies of one content hash; last_seen_at is when they last came into force.
     */
    PolicyVersionOut: {
      /**
       * First Seen At
       * Format: date-time
       */
      first_seen_at: string;
      /**
       * Last Seen At
       * Format: date-time
       */
      last_seen_at: string;
      /** Layer Count */
      layer_count: number;
      /** Problems */
      problems: components["schemas"]["PolicyProblemOut"][];
      /** Version */
      version: string;
    };
    /**
     * PolicyVersionPage
     * @description Versions, the one in force first.
     */
    PolicyVersionPage: {
      /** Items */
      items: components["schemas"]["PolicyVersionOut"][];
      /** Next Cursor */
      next_cursor: string | null;
      /** Total */
      total: number;
    };
    /**
     * PoolCatalogOut
     * @description Whether a pool's Spark can use a catalog.
     */
    PoolCatalogOut: {
      /** Error */
      error: string | null;
      /** Name */
      name: string;
    };
    /**
     * PoolOut
     * @description A pool of Spark drivers, and what its newest driver reported.
     */
    PoolOut: {
      /** Catalogs */
      catalogs: components["schemas"]["PoolCatalogOut"][];
      /** Iceberg */
      iceberg: string | null;
      /** Java */
      java: string | null;
      /** Max Jobs */
      max_jobs: number;
      /** Name */
      name: string;
      /**
       * Obstacles
       * @description Why no job runs in the pool.
       */
      obstacles: string[];
      /**
       * Reported At
       * @description Null before the first driver has started.
       */
      reported_at: string | null;
      /**
       * Restrictions
       * @description Known faults of its Iceberg, which switch rules off.
       */
      restrictions: string[];
      /** Scala */
      scala: string | null;
      /** Spark */
      spark: string | null;
    };
    /**
     * PreviewRequest
     * @description A policy file to preview.
     *
     *     With the name of a file in force it replaces that file; otherwise it becomes the last layer
     *     among those of equally narrow scope.
     */
    PreviewRequest: {
      /** Name */
      name?: string | null;
      /** Yaml */
      yaml: string;
    };
    /**
     * Problem
     * @description RFC 9457 problem details (application/problem+json).
     */
    Problem: {
      /** Detail */
      detail: string;
      /**
       * Instance
       * @default null
       */
      instance?: string | null;
      /** Status */
      status: number;
      /** Title */
      title: string;
      /**
       * Type
       * @default about:blank
       */
      type?: string;
    };
    /**
     * ProgressOut
     * @description The progress of a job; null where Spark did not report it.
     */
    ProgressOut: {
      /**
       * Bytes Read
       * @description By Spark, as far as the storage's client counts them.
       */
      bytes_read: number | null;
      /** Bytes Written */
      bytes_written: number | null;
      /**
       * Ends At
       * @description About when Spark will be done, if the rest takes as long as what is done.
       */
      ends_at: string | null;
      /**
       * File Groups Done
       * @description Of a rewrite: what Iceberg plans and writes as one.
       */
      file_groups_done: number | null;
      /** File Groups Total */
      file_groups_total: number | null;
      /**
       * Is Counted
       * @description The share grows within this stage; else it only grows with the next stage.
       */
      is_counted: boolean;
      /** Phase */
      phase: string;
      /** Sentence */
      sentence: string;
      /**
       * Share
       * @description Of the whole job, from 0 while it waits to below 1 before its end; it never decreases.
       */
      share: number;
      /** @description A job never goes back to an earlier stage. */
      stage: components["schemas"]["Stage"];
      /** Tasks Done */
      tasks_done: number | null;
      /**
       * Tasks Total
       * @description The tasks of the Spark jobs so far. The number grows with each Spark job, so it does not show how much is left.
       */
      tasks_total: number | null;
    };
    /**
     * Quantity
     * @description A quantity that is estimated before a job and known after it.
     * @enum {string}
     */
    Quantity:
      | "files_removed"
      | "delete_files_removed"
      | "manifests_removed"
      | "snapshots_removed"
      | "bytes_rewritten"
      | "gb_hours"
      | "duration_seconds";
    /**
     * QueueOut
     * @description The first planned actions, best first; total is the number of all.
     */
    QueueOut: {
      /**
       * At
       * Format: date-time
       */
      at: string;
      /** Items */
      items: components["schemas"]["QueuedOut"][];
      /**
       * Starting
       * @description The number of actions that start next.
       */
      starting: number;
      /** Total */
      total: number;
      /**
       * Waiting
       * @description The number of waiting actions by reason, with every reason.
       */
      waiting: {
        [key: string]: number;
      };
    };
    /**
     * QueuedOut
     * @description One planned action in the queue.
     */
    QueuedOut: {
      admission: components["schemas"]["AdmissionOut"];
      cost: components["schemas"]["CostOut"];
      /**
       * Is Urgent
       * @description The table is in the critical band.
       */
      is_urgent: boolean;
      rule: components["schemas"]["RuleName"];
      /** Table */
      table: string;
    };
    /** Readiness */
    Readiness: {
      /** Checks */
      checks: components["schemas"]["CheckOut"][];
      /** Is Ready */
      is_ready: boolean;
    };
    /**
     * ReadsCounted
     * @description The result for the reports.
     */
    ReadsCounted: {
      /**
       * Counted
       * @description Reports that count as a read.
       */
      counted: number;
      /**
       * Left Out
       * @description Reports of commits, and of tables that are unknown here or on which you are not an operator.
       */
      left_out: number;
    };
    /**
     * RefOut
     * @description A branch or a tag.
     */
    RefOut: {
      /** Is Branch */
      is_branch: boolean;
      /** Name */
      name: string;
      /** Snapshot Id */
      snapshot_id: string;
    };
    /**
     * RefRetentionOut
     * @description The snapshots that a branch or a tag keeps from expiry.
     */
    RefRetentionOut: {
      /** Is Branch */
      is_branch: boolean;
      /**
       * Is Ours
       * @description A tag that a rewrite can be rolled back to; it ends by its own age.
       * @default false
       */
      is_ours?: boolean;
      /** Name */
      name: string;
      /** Oldest Retained At */
      oldest_retained_at: string | null;
      /** Retained Snapshots */
      retained_snapshots: number;
      /** Snapshot At */
      snapshot_at: string | null;
      /** Snapshot Id */
      snapshot_id: string;
    };
    /**
     * Repair
     * @description What a job may do only because a person asked for it: no policy rule does it.
     * @enum {string}
     */
    Repair: "roll_back";
    /**
     * ReplicaOut
     * @description A replica that scans, plans and runs jobs.
     */
    ReplicaOut: {
      /** Duties */
      duties: components["schemas"]["DutyOut"][];
      /**
       * Name
       * @description Its host, its process and a random part.
       */
      name: string;
    };
    /**
     * ReportLineOut
     * @description The files of a table, a namespace or all tables, and what they cost.
     */
    ReportLineOut: {
      /** Average File Size Bytes */
      average_file_size_bytes: number;
      /** Bytes */
      bytes: number;
      /**
       * Cost Per Day
       * @description In the currency of the configured price; null: no price.
       */
      cost_per_day: number | null;
      /** Cost Saved Per Day */
      cost_saved_per_day: number | null;
      /** Files */
      files: number;
      /** Name */
      name: string;
      /**
       * Requests
       * @description Requests of one full read of each table; a lower bound.
       */
      requests: number;
      /** Requests Per Day */
      requests_per_day: number;
      /**
       * Requests Saved
       * @description Requests that compaction avoids, as the planner predicts it.
       */
      requests_saved: number;
      /**
       * Requests Saved By Layout
       * @description Further requests that files of the target size would avoid, with other partitions; compaction cannot.
       */
      requests_saved_by_layout: number;
      /** Requests Saved Per Day */
      requests_saved_per_day: number;
      /** Round Trips */
      round_trips: components["schemas"]["RoundTripsOut"][];
      /**
       * Scan Seconds
       * @description The time of one full read of each table, by the speed of its storage.
       */
      scan_seconds: number;
      /** Scan Seconds At Target */
      scan_seconds_at_target: number;
      /** Slowdown High */
      slowdown_high: number;
      /**
       * Slowdown Low
       * @description 1 is as fast as with files of 130 MB.
       */
      slowdown_low: number;
      /**
       * Small
       * @description The smallest size first.
       */
      small: components["schemas"]["SmallShareOut"][];
      /** Tables */
      tables: number;
    };
    /**
     * RescuePlanOut
     * @description The jobs until a table is healthy, as far as they are predictable.
     */
    RescuePlanOut: {
      /** @description Now. */
      band: components["schemas"]["Band"];
      /**
       * Begins At
       * Format: date-time
       */
      begins_at: string;
      /** Days */
      days: number;
      /**
       * Ends At
       * Format: date-time
       */
      ends_at: string;
      /** Gb Hours */
      gb_hours: number;
      /**
       * Gb Hours P90
       * @description 90 % of such plans cost at most this.
       */
      gb_hours_p90: number;
      /**
       * Is Healthy
       * @description After the last step.
       */
      is_healthy: boolean;
      /** Sentence */
      sentence: string;
      /** Steps */
      steps: components["schemas"]["RescueStepOut"][];
      /** Table */
      table: string;
    };
    /**
     * RescueStepOut
     * @description One job, and the predicted table after it.
     */
    RescueStepOut: {
      /** Average File Size Bytes */
      average_file_size_bytes: number | null;
      band: components["schemas"]["Band"];
      /** Data Files */
      data_files: number | null;
      /** Delete Files */
      delete_files: number | null;
      /**
       * Ends At
       * Format: date-time
       */
      ends_at: string;
      /** Gb Hours */
      gb_hours: number;
      /** Gb Hours P90 */
      gb_hours_p90: number;
      /** Manifests */
      manifests: number | null;
      /** Reason */
      reason: string;
      rule: components["schemas"]["RuleName"];
      /** Snapshots */
      snapshots: number;
      /**
       * Starts At
       * Format: date-time
       */
      starts_at: string;
      /**
       * Waited For
       * @description Why it does not start directly after the step before.
       */
      waited_for: string;
    };
    /**
     * Resource
     * @description What a budget limits.
     *
     *     A day is a calendar day in UTC. A job counts for the day on which it was admitted.
     * @enum {string}
     */
    Resource: "jobs" | "bytes_per_day" | "gb_hours_per_day";
    /**
     * Role
     * @description What a person may do; each role includes those before it.
     * @enum {string}
     */
    Role: "viewer" | "operator" | "approver" | "admin";
    /**
     * RoundTripsOut
     * @description The round-trip time of one full read of each table.
     */
    RoundTripsOut: {
      /**
       * Parallel
       * @description Requests at the same time.
       */
      parallel: number;
      /** Seconds */
      seconds: number;
    };
    /**
     * RowProof
     * @description The proof that the rows are the same before and after.
     * @enum {string}
     */
    RowProof: "equal" | "counted" | "bounded" | "not_needed" | "different" | "unknown";
    /**
     * RuleName
     * @description The rules of a policy, in execution order.
     * @enum {string}
     */
    RuleName:
      | "rewrite_data_files"
      | "rewrite_position_delete_files"
      | "rewrite_manifests"
      | "compute_table_stats"
      | "compute_partition_stats"
      | "expire_snapshots"
      | "remove_orphan_files";
    /** RunAccepted */
    RunAccepted: {
      /** Jobs */
      jobs: components["schemas"]["JobOut"][];
      plan: components["schemas"]["PlanOut"];
    };
    /**
     * RunRequest
     * @description The rules to run now, in any mode; empty: those that the plan would run.
     */
    RunRequest: {
      /**
       * Rules
       * @default []
       */
      rules?: components["schemas"]["RuleName"][];
    };
    /** Sample */
    Sample: {
      /**
       * At
       * Format: date-time
       */
      at: string;
      /** Value */
      value: number | null;
    };
    /**
     * ScanCostOut
     * @description The work and the cost of one scan of a catalog.
     */
    ScanCostOut: {
      /**
       * Bytes Read
       * @description Of manifests.
       */
      bytes_read: number;
      /**
       * Faults
       * @description Tables and namespaces that could not be read.
       */
      faults: number;
      /**
       * Is Complete
       * @description False: stopped, or changed tables are left for the next scan.
       */
      is_complete: boolean;
      /** Manifests Read */
      manifests_read: number;
      /**
       * Manifests Reused
       * @description Known from earlier scans.
       */
      manifests_reused: number;
      /**
       * Measured
       * @description Tables that were read.
       */
      measured: number;
      /** Seconds */
      seconds: number;
      /**
       * Started At
       * Format: date-time
       */
      started_at: string;
      /**
       * Unchanged
       * @description Tables that were not read again.
       */
      unchanged: number;
    };
    /**
     * ScopePauseOut
     * @description A pause in force.
     */
    ScopePauseOut: {
      /**
       * At
       * Format: date-time
       */
      at: string;
      /** By */
      by: string;
      /** Is Drain */
      is_drain: boolean;
      /** Reason */
      reason: string;
      /** Scope */
      scope: string;
    };
    /**
     * ScopePauseRequest
     * @description Pause the tables of a scope.
     */
    ScopePauseRequest: {
      /**
       * Cancel
       * @description Also cancel the jobs that run there (kill switch).
       * @default false
       */
      cancel?: boolean;
      /**
       * Drain
       * @description A drain of everything: not even requests start; running jobs finish.
       * @default false
       */
      drain?: boolean;
      /**
       * Reason
       * @default
       */
      reason?: string;
      /**
       * Scope
       * @description A table, a namespace (`lake.sales`), a catalog (`lake`), a glob over whole names, or `*` for all.
       * @default *
       */
      scope?: string;
    };
    /**
     * ScoreOut
     * @description The score of an action, by which planned actions are ordered, and its terms.
     */
    ScoreOut: {
      /** Scorer */
      scorer: string;
      /** Sentence */
      sentence: string;
      /** Terms */
      terms: components["schemas"]["TermOut"][];
      /** Value */
      value: number;
    };
    /**
     * SessionOut
     * @description Who sends the request, and what they may do.
     */
    SessionOut: {
      /** Grants */
      grants: components["schemas"]["GrantOut"][];
      /**
       * Has Provider
       * @description People sign in at an OpenID provider.
       */
      has_provider: boolean;
      /**
       * Has Tokens
       * @description A token can be used to sign in.
       */
      has_tokens: boolean;
      /**
       * Is Needed
       * @description False: everybody may do everything.
       */
      is_needed: boolean;
      /**
       * Name
       * @description As in the audit log; null for nobody.
       */
      name: string | null;
    };
    /**
     * SettingOut
     * @description A setting as it works now.
     */
    SettingOut: {
      /**
       * Is Default
       * @description True when neither the file nor the environment sets it.
       */
      is_default: boolean;
      /**
       * Name
       * @description Dotted, as the configuration file nests it.
       */
      name: string;
      /**
       * Value
       * @description As a text, its secrets as ***; null: there is no value.
       */
      value: string | null;
    };
    /**
     * SettingsOut
     * @description The configuration of the process that answers.
     */
    SettingsOut: {
      /** Settings */
      settings: components["schemas"]["SettingOut"][];
      /** Version */
      version: string;
    };
    /**
     * SkipCode
     * @description Why a rule does not run now.
     * @enum {string}
     */
    SkipCode:
      | "below_threshold"
      | "nothing_to_gain"
      | "cooling_down"
      | "not_measured"
      | "gc_disabled"
      | "retention_floor"
      | "unsafe"
      | "pinned"
      | "in_flight"
      | "outside_window"
      | "over_budget"
      | "hot_partition"
      | "unsupported"
      | "observe_only"
      | "disabled"
      | "paused"
      | "ambiguous_policy"
      | "not_quiet"
      | "other_maintainer"
      | "no_runner";
    /**
     * SkippedOut
     * @description A skipped rule.
     */
    SkippedOut: {
      /**
       * Action
       * @description The CALL statement that is not run; null without one.
       */
      action: string | null;
      code: components["schemas"]["SkipCode"];
      cost: components["schemas"]["CostOut"] | null;
      estimate: components["schemas"]["EstimateOut"] | null;
      /** Findings */
      findings: components["schemas"]["FindingOut"][];
      /**
       * Next At
       * @description The next check; null: when the table changes.
       */
      next_at: string | null;
      /** Reason */
      reason: string;
      rule: components["schemas"]["RuleName"];
      score: components["schemas"]["ScoreOut"] | null;
      /**
       * Sentence
       * @description The verdict in words, with its reason.
       */
      sentence: string;
    };
    /**
     * SmallFilesReportOut
     * @description What small files cost; without a measured table with data files, total is null.
     */
    SmallFilesReportOut: {
      /**
       * First
       * @description The tables to compact first.
       */
      first: components["schemas"]["ReportLineOut"][];
      /**
       * Left Out
       * @description Tables without readable data files, or not measured since an upgrade that changed the classes of file sizes.
       */
      left_out: number;
      /**
       * Name Services
       * @description The objects of tables on HDFS; by name.
       */
      name_services: components["schemas"]["NameServiceOut"][];
      /**
       * Namespaces
       * @description The most avoidable requests first.
       */
      namespaces: components["schemas"]["ReportLineOut"][];
      /** Scans Per Day */
      scans_per_day: number;
      /**
       * Sentences
       * @description The report in words, with its sources.
       */
      sentences: string[];
      /**
       * Storages
       * @description The kinds of storage of the estimate.
       */
      storages: components["schemas"]["StorageProfile"][];
      total: components["schemas"]["ReportLineOut"] | null;
    };
    /**
     * SmallShareOut
     * @description The files below one size.
     */
    SmallShareOut: {
      /** Below Bytes */
      below_bytes: number;
      /** Files */
      files: number;
      /**
       * Share
       * @description Of all data files.
       */
      share: number;
    };
    /**
     * SnapshotList
     * @description Snapshots, newest first; total is the number of all.
     */
    SnapshotList: {
      /** Items */
      items: components["schemas"]["SnapshotOut"][];
      /** Total */
      total: number;
    };
    /**
     * SnapshotOut
     * @description A snapshot that the table keeps.
     */
    SnapshotOut: {
      /**
       * Committed At
       * Format: date-time
       */
      committed_at: string;
      /**
       * Expires
       * @description The next run of expiry would remove it.
       */
      expires: boolean;
      /**
       * Pins
       * @description The pins that keep it and all newer ones.
       */
      pins: string[];
      /**
       * Refs
       * @description The branches and tags that point to it.
       */
      refs: string[];
      /** @description Why it may be needed off all branches. */
      role: components["schemas"]["SnapshotRole"] | null;
      /** Snapshot Id */
      snapshot_id: string;
    };
    /**
     * SnapshotRole
     * @description Why a snapshot at no branch's head may still be needed, by its own summary.
     * @enum {string}
     */
    SnapshotRole: "staged" | "checkpoint" | "marker";
    /**
     * Stage
     * @description The stages of a job, in order. A job may skip a stage; it never falls.
     * @enum {string}
     */
    Stage: "waiting" | "starting" | "preparing" | "working" | "checking" | "proving";
    /**
     * StatusOut
     * @description Is all well, what is being done, and what needs a person.
     */
    StatusOut: {
      /**
       * Is Well
       * @description A scan has finished, and nothing needs a person.
       */
      is_well: boolean;
      /**
       * Items
       * @description The first tables, the most urgent state and the worst band first.
       */
      items: components["schemas"]["TableStatusOut"][];
      /**
       * Last Scan At
       * @description The end of the last scan, of several catalogs of the one that was scanned longest ago.
       */
      last_scan_at: string | null;
      /**
       * Needs
       * @description The first ones, the most urgent kind first.
       */
      needs: components["schemas"]["NeedOut"][];
      /** Needs Total */
      needs_total: number;
      /** Sentence */
      sentence: string;
      /**
       * States
       * @description The number of tables in each state.
       */
      states: {
        [key: string]: number;
      };
      /** Tables */
      tables: number;
    };
    /**
     * StorageOut
     * @description The prices and the speed of a storage, as the estimate uses them.
     */
    StorageOut: {
      /**
       * Bandwidth
       * @description Bytes a second.
       */
      bandwidth: number;
      /** Get Price Per Million */
      get_price_per_million: number | null;
      /** List Price Per Million */
      list_price_per_million: number | null;
      /**
       * Parallelism
       * @description Requests at the same time.
       */
      parallelism: number;
      /** Price Per Gb Month */
      price_per_gb_month: number | null;
      profile: components["schemas"]["StorageProfile"];
      /** Put Price Per Million */
      put_price_per_million: number | null;
      /** Round Trip Seconds */
      round_trip_seconds: number;
      /** Sentence */
      sentence: string;
    };
    /**
     * StorageProfile
     * @description The kind of storage of a table, which decides the cost of small files.
     * @enum {string}
     */
    StorageProfile: "object_store" | "hdfs" | "ozone";
    /**
     * SuggestedPolicyOut
     * @description A policy file for one table, from its history between two times.
     */
    SuggestedPolicyOut: {
      /**
       * Since
       * Format: date-time
       */
      since: string;
      /** Table */
      table: string;
      /**
       * Until
       * Format: date-time
       */
      until: string;
      /** Values */
      values: components["schemas"]["SuggestedValueOut"][];
      /**
       * Yaml
       * @description The file, with the reasons as comments.
       */
      yaml: string;
    };
    /**
     * SuggestedValueOut
     * @description One setting as in a policy file, and the figure behind it.
     */
    SuggestedValueOut: {
      /** Path */
      path: string;
      /** Reason */
      reason: string;
      /** Text */
      text: string;
    };
    /**
     * TableDetail
     * @description A table's latest health, its findings and the policy in force.
     */
    TableDetail: {
      /** Average File Size Bytes */
      average_file_size_bytes: number | null;
      band: components["schemas"]["Band"] | null;
      /**
       * Band Since
       * @description When the table entered its band.
       */
      band_since: string | null;
      /** Branches */
      branches: number | null;
      /** Catalog */
      catalog: string;
      /**
       * Commit Gap Seconds
       * @description Between two commits of the busiest writer in 24 hours: the median.
       */
      commit_gap_seconds: number | null;
      /**
       * Commit Window Seconds
       * @description The span that the commit rate is taken over.
       */
      commit_window_seconds: number | null;
      /** Commits Per Hour */
      commits_per_hour: number | null;
      /**
       * Dangling Delete Files
       * @description Position delete files that apply to no data file.
       */
      dangling_delete_files: number | null;
      /** Data Bytes */
      data_bytes: number | null;
      /** Data Files */
      data_files: number | null;
      /** Data Manifests */
      data_manifests: number | null;
      /** Delete Bytes */
      delete_bytes: number | null;
      /**
       * Delete File Ratio
       * @description Delete files / data files.
       */
      delete_file_ratio: number | null;
      /** Delete Manifests */
      delete_manifests: number | null;
      /** Delete Records */
      delete_records: number | null;
      /** Deletion Vectors */
      deletion_vectors: number | null;
      /** Disagreements */
      disagreements: components["schemas"]["DisagreementOut"][];
      /** Equality Delete Files */
      equality_delete_files: number | null;
      fault: components["schemas"]["FaultOut"] | null;
      /** Findings */
      findings: components["schemas"]["FindingOut"][];
      /**
       * First Seen At
       * Format: date-time
       */
      first_seen_at: string;
      /** Format Version */
      format_version: number | null;
      /** Formats */
      formats: {
        [key: string]: number;
      };
      /** Growth Bytes Per Day */
      growth_bytes_per_day: number | null;
      /** Growth Records Per Day */
      growth_records_per_day: number | null;
      /** Histogram */
      histogram: components["schemas"]["HistogramBin"][];
      impact: components["schemas"]["ImpactOut"] | null;
      /**
       * Kept Data Files
       * @description Data files that any kept snapshot reaches.
       */
      kept_data_files: number | null;
      /**
       * Live File Ratio
       * @description Live data files / kept data files.
       */
      live_file_ratio: number | null;
      /** Location */
      location: string | null;
      /**
       * Lost Deletes
       * @description Delete files that were committed for data files which a rewrite had replaced.
       */
      lost_deletes: number | null;
      /** Manifest Bytes */
      manifest_bytes: number | null;
      /**
       * Manifest Excess
       * @description Manifests beyond the ideal number.
       */
      manifest_excess: number | null;
      /** Manifest Groups */
      manifest_groups: components["schemas"]["ManifestGroupOut"][];
      /** Manifests */
      manifests: number | null;
      /** Measured At */
      measured_at: string | null;
      /** Metadata Bytes */
      metadata_bytes: number | null;
      /** Metadata Files */
      metadata_files: number | null;
      /** Metadata Location */
      metadata_location: string | null;
      /** Name */
      name: string;
      /**
       * Namespace
       * @description Levels joined by dots.
       */
      namespace: string;
      /** Newest Snapshot At */
      newest_snapshot_at: string | null;
      /**
       * Oldest Delete At
       * @description The latest time at which the oldest delete was written.
       */
      oldest_delete_at: string | null;
      /** Oldest Snapshot At */
      oldest_snapshot_at: string | null;
      /** @description What happens now and next. */
      outlook: components["schemas"]["OutlookOut"];
      /** @description Why files stay small; null where maintenance helps. */
      partition_advice: components["schemas"]["PartitionAdviceOut"] | null;
      /**
       * Partition Skew
       * @description Bytes of the largest partition / mean of all.
       */
      partition_skew: number | null;
      /**
       * Partitions
       * @description Partitions that hold files.
       */
      partitions: number | null;
      pause: components["schemas"]["PauseOut"] | null;
      policy: components["schemas"]["EffectivePolicyOut"];
      /** Position Delete Files */
      position_delete_files: number | null;
      /** @description The band before that. */
      previous_band: components["schemas"]["Band"] | null;
      /** Properties */
      properties: {
        [key: string]: string;
      };
      /**
       * Reads Per Day
       * @description Scans that engines reported, last seven days; null: none reported.
       */
      reads_per_day: number | null;
      /** Reason */
      reason: string;
      /** Records */
      records: number | null;
      /**
       * Ref Retention
       * @description What branches and tags keep, the oldest first; at most 20.
       */
      ref_retention: components["schemas"]["RefRetentionOut"][];
      /** Refs */
      refs: components["schemas"]["RefOut"][];
      /** Small File Bytes */
      small_file_bytes: number | null;
      /** Small File Ratio */
      small_file_ratio: number | null;
      /** Small Files */
      small_files: number | null;
      /**
       * Snapshot Id
       * @description As text: snapshot ids are 64-bit.
       */
      snapshot_id: string | null;
      /** Snapshots */
      snapshots: number | null;
      /** @description The table's one state; null for a few seconds after it was found. */
      status: components["schemas"]["TableStatusOut"] | null;
      /**
       * Storage Files
       * @description A lower bound of the files that the table keeps, metadata included.
       */
      storage_files: number | null;
      /**
       * Table
       * @description catalog.namespace.table
       */
      table: string;
      /** Table Uuid */
      table_uuid: string | null;
      /** Tags */
      tags: number | null;
      /** Target File Size Bytes */
      target_file_size_bytes: number | null;
      /** Unreadable */
      unreadable: components["schemas"]["UnreadableOut"][];
      /** Writers */
      writers: components["schemas"]["WriterRateOut"][];
      /**
       * Wrong Summaries
       * @description Manifests that readers skip wrongly, by the manifest list's own summaries.
       */
      wrong_summaries: number | null;
    };
    /**
     * TableEvent
     * @description A CloudEvent about one table; its other attributes and its data are not read.
     */
    TableEvent: {
      /**
       * Name
       * @description Of the table.
       */
      name: string;
      /**
       * Namespace
       * @description Levels joined by "."; a level that holds a dot in backticks.
       */
      namespace: string;
      /**
       * Specversion
       * @constant
       */
      specversion: "1.0";
    };
    /**
     * TablePage
     * @description A page of the table list.
     *
     *     For a search with many matches, total is a lower bound.
     */
    TablePage: {
      /** Items */
      items: components["schemas"]["TableSummary"][];
      /** Next Cursor */
      next_cursor: string | null;
      /** Total */
      total: number;
      /**
       * Total Is Exact
       * @default true
       */
      total_is_exact?: boolean;
    };
    /**
     * TablePreviewOut
     * @description A table and its rules with other verdicts.
     */
    TablePreviewOut: {
      /** Changes */
      changes: components["schemas"]["VerdictChangeOut"][];
      /** Table */
      table: string;
    };
    /**
     * TableState
     * @description The state of a table, the most urgent first. Each table is in exactly one.
     * @enum {string}
     */
    TableState:
      | "unreadable"
      | "damaged"
      | "paused"
      | "not_covered"
      | "observed"
      | "waiting"
      | "due"
      | "being_maintained"
      | "small_by_nature"
      | "healthy";
    /**
     * TableStatusOut
     * @description The one state of a table, and the next action.
     */
    TableStatusOut: {
      /** @description null: not measured. */
      band: components["schemas"]["Band"] | null;
      /**
       * Command
       * @description The next action on the command line; empty: none.
       */
      command: string;
      /**
       * Needs Person
       * @description Nothing improves before a person acts.
       */
      needs_person: boolean;
      /** Sentence */
      sentence: string;
      /** Since */
      since: string | null;
      state: components["schemas"]["TableState"];
      /**
       * Table
       * @description catalog.namespace.table
       */
      table: string;
      /**
       * Until
       * @description The earliest start of what waits, or the estimated end of the job.
       */
      until: string | null;
    };
    /**
     * TableSummary
     * @description One row of the table list.
     */
    TableSummary: {
      /** Average File Size Bytes */
      average_file_size_bytes: number | null;
      band: components["schemas"]["Band"] | null;
      /**
       * Band Since
       * @description When the table entered its band.
       */
      band_since: string | null;
      /** Catalog */
      catalog: string;
      /** Data Bytes */
      data_bytes: number | null;
      /** Data Files */
      data_files: number | null;
      /** Deletion Vectors */
      deletion_vectors: number | null;
      /** Equality Delete Files */
      equality_delete_files: number | null;
      fault: components["schemas"]["FaultOut"] | null;
      /** Findings */
      findings: components["schemas"]["FindingOut"][];
      /** Format Version */
      format_version: number | null;
      /** Manifest Bytes */
      manifest_bytes: number | null;
      /** Manifests */
      manifests: number | null;
      /** Measured At */
      measured_at: string | null;
      /** Name */
      name: string;
      /**
       * Namespace
       * @description Levels joined by dots.
       */
      namespace: string;
      pause: components["schemas"]["PauseOut"] | null;
      /** Position Delete Files */
      position_delete_files: number | null;
      /** @description The band before that. */
      previous_band: components["schemas"]["Band"] | null;
      /** Reason */
      reason: string;
      /** Records */
      records: number | null;
      /** Small File Ratio */
      small_file_ratio: number | null;
      /** Small Files */
      small_files: number | null;
      /**
       * Snapshot Id
       * @description As text: snapshot ids are 64-bit.
       */
      snapshot_id: string | null;
      /** Snapshots */
      snapshots: number | null;
      /** @description The table's one state; null for a few seconds after it was found. */
      status: components["schemas"]["TableStatusOut"] | null;
      /**
       * Table
       * @description catalog.namespace.table
       */
      table: string;
      /** Target File Size Bytes */
      target_file_size_bytes: number | null;
    };
    /**
     * TermOut
     * @description One term of a score.
     */
    TermOut: {
      /** Name */
      name: string;
      /** Value */
      value: number;
    };
    /**
     * TokenSignIn
     * @description Sign in on the page with an API token.
     */
    TokenSignIn: {
      /** Token */
      token: string;
    };
    /**
     * TrendsOut
     * @description A history for each visible name, in the order of the request.
     */
    TrendsOut: {
      /** Items */
      items: components["schemas"]["History"][];
    };
    /**
     * TriedTarget
     * @description A target of notifications that was sent a test message.
     */
    TriedTarget: {
      /**
       * Is Received
       * @description False when the target has refused it; the log says more.
       */
      is_received: boolean;
      /**
       * Name
       * @description As `notifications.targets` has it.
       */
      name: string;
    };
    /**
     * TriedTargets
     * @description All targets of the process that answers; none without notifications.
     */
    TriedTargets: {
      /** Items */
      items: components["schemas"]["TriedTarget"][];
    };
    /**
     * UnfinishedJobOut
     * @description The unfinished job of a table.
     */
    UnfinishedJobOut: {
      /** Job Id */
      job_id: string;
      progress: components["schemas"]["ProgressOut"];
      /** Rule */
      rule: components["schemas"]["RuleName"] | components["schemas"]["Repair"];
      state: components["schemas"]["JobState"];
    };
    /**
     * UnreadableOut
     * @description A metadata file that could not be read.
     */
    UnreadableOut: {
      /** Path */
      path: string;
      /** Reason */
      reason: string;
    };
    /**
     * VerdictChangeOut
     * @description A rule with another verdict: "planned" or a skip code; null where the policy lacks it.
     */
    VerdictChangeOut: {
      /** After */
      after: string | null;
      /** Before */
      before: string | null;
      /**
       * Gb Hours
       * @description The predicted cost of an action that would be planned.
       */
      gb_hours: number | null;
      rule: components["schemas"]["RuleName"];
      /** Why After */
      why_after: string;
      /** Why Before */
      why_before: string;
    };
    /**
     * VerdictOut
     * @description One entry of the history of verdicts, with the figures of the moment it began.
     */
    VerdictOut: {
      /**
       * At
       * Format: date-time
       */
      at: string;
      /**
       * Code
       * @description `planned`, or why the rule did nothing, as in a plan.
       */
      code: string;
      cost: components["schemas"]["CostOut"] | null;
      estimate: components["schemas"]["EstimateOut"] | null;
      /** Findings */
      findings: components["schemas"]["FindingOut"][];
      /**
       * Next At
       * @description The next check then; null: when the table changes.
       */
      next_at: string | null;
      /** Policy */
      policy: string;
      rule: components["schemas"]["RuleName"];
      score: components["schemas"]["ScoreOut"] | null;
      /** Sentence */
      sentence: string;
      /**
       * Until
       * @description Null: it is the current verdict.
       */
      until: string | null;
    };
    /**
     * VerdictPage
     * @description A page of the history of verdicts, newest first.
     */
    VerdictPage: {
      /** Items */
      items: components["schemas"]["VerdictOut"][];
      /** Next Cursor */
      next_cursor: string | null;
      /** Total */
      total: number;
    };
    /**
     * WaitCode
     * @description Why a planned action does not start now.
     * @enum {string}
     */
    WaitCode:
      | "queued"
      | "turn"
      | "in_flight"
      | "over_budget"
      | "reserved"
      | "too_large"
      | "blackout"
      | "paused"
      | "draining";
    /**
     * WriterRateOut
     * @description The commits of one writer; a list has at most ten writers and the sum of the others.
     */
    WriterRateOut: {
      /**
       * Commits
       * @description Kept snapshots of the commit window.
       */
      commits: number;
      /** Commits Per Hour */
      commits_per_hour: number;
      /** Writer */
      writer: string;
    };
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
  get_audit: {
    parameters: {
      query?: {
        /** @description catalog.namespace.table */
        table?: string | null;
        /** @description A job's id. */
        job?: string;
        /** @description As the log has it, such as `person ada`. */
        actor?: string;
        /** @description RFC 3339, inclusive. */
        since?: string | null;
        /** @description RFC 3339, exclusive. */
        until?: string | null;
        /** @description Items a page. */
        limit?: number;
        /** @description next_cursor of the page before. */
        cursor?: string | null;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["AuditPage"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_catalogs: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["CatalogOut"][];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_catalog_storage: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["CatalogStorageOut"][];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  post_events: {
    parameters: {
      query?: {
        /** @description The catalog of the tables in CloudEvents. */
        catalog?: string | null;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json":
          | components["schemas"]["ChangedTables"]
          | components["schemas"]["TableEvent"]
          | components["schemas"]["TableEvent"][];
      };
    };
    responses: {
      /** @description Successful Response */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["EventsTaken"];
        };
      };
      /** @description Bad Request */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request Entity Too Large */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unsupported Media Type */
      415: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_inbox: {
    parameters: {
      query?: {
        /** @description Items a page. */
        limit?: number;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["InboxOut"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_jobs: {
    parameters: {
      query?: {
        /** @description Only these states; may be given several times. */
        state?: components["schemas"]["JobState"][] | null;
        /** @description Only this table: catalog.namespace.table. */
        table?: string | null;
        /** @description Only this rule, or `roll_back`. */
        rule?: components["schemas"]["RuleName"] | components["schemas"]["Repair"] | null;
        /** @description As the job has it, such as `policy` or `person ada`. */
        requested_by?: string;
        /** @description Created then or later; RFC 3339. */
        since?: string | null;
        /** @description Created before; RFC 3339. */
        until?: string | null;
        /** @description Items a page. */
        limit?: number;
        /** @description next_cursor of the page before. */
        cursor?: string | null;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["JobPage"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_job: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        job_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["JobOut"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Not Found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  cancel_job: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        job_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["CancelledJobOut"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Not Found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Conflict */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request Entity Too Large */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unsupported Media Type */
      415: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_job_events: {
    parameters: {
      query?: never;
      header?: {
        /** @description application/json: the events so far, as a list. */
        accept?: string;
        /** @description Go on after this sequence number. */
        "last-event-id"?: number | null;
      };
      path: {
        job_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Each message is a JobEventOut, its id the sequence number; `job` events carry the JobOut when it changed, `end` the final one. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["JobEventOut"][];
          "text/event-stream": string;
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Not Found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_job_log: {
    parameters: {
      query?: {
        /** @description Only what follows this position. */
        since?: number;
      };
      header?: {
        /** @description text/plain, application/json, or text/event-stream to follow the log. */
        accept?: string;
        /** @description Go on after this position, instead of `since`. */
        "last-event-id"?: number | null;
      };
      path: {
        job_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The kept log as text, or a JobLogOut. In a stream each message is a JobLogOut whose id is the position after it; `end` says that nothing follows. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["JobLogOut"];
          "text/event-stream": string;
          "text/plain": string;
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Not Found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  roll_job_back: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        job_id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["JobOut"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Not Found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Conflict */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request Entity Too Large */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unsupported Media Type */
      415: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  post_metrics_reports: {
    parameters: {
      query?: {
        /** @description The catalog here, where engines call it by another name. */
        catalog?: string | null;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json":
          components["schemas"]["MetricsReport"] | components["schemas"]["MetricsReport"][];
      };
    };
    responses: {
      /** @description Successful Response */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ReadsCounted"];
        };
      };
      /** @description Bad Request */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request Entity Too Large */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unsupported Media Type */
      415: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_namespaces: {
    parameters: {
      query?: {
        /** @description Only this catalog. */
        catalog?: string | null;
        /** @description Items a page. */
        limit?: number;
        /** @description next_cursor of the page before. */
        cursor?: string | null;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["NamespacePage"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  post_test_notice: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["TriedTargets"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request Entity Too Large */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unsupported Media Type */
      415: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_overview: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["OverviewOut"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_daily_work: {
    parameters: {
      query?: {
        /** @description Only this catalog. */
        catalog?: string | null;
        /** @description Only this namespace of the catalog, without nested ones. */
        namespace?: string | null;
        /** @description RFC 3339; 30 days before `to` when left out. */
        from?: string | null;
        /** @description RFC 3339; now when left out. */
        to?: string | null;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["DailyWorkOut"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_fleet_history: {
    parameters: {
      query?: {
        /** @description Only this catalog. */
        catalog?: string | null;
        /** @description Only this namespace of the catalog, without nested ones. */
        namespace?: string | null;
        /** @description RFC 3339; 30 days before `to` when left out. */
        from?: string | null;
        /** @description RFC 3339; now when left out. */
        to?: string | null;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["FleetHistory"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_pauses: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["PausesOut"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  post_pause: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ScopePauseRequest"];
      };
    };
    responses: {
      /** @description Successful Response */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ScopePauseOut"];
        };
      };
      /** @description Bad Request */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Not Found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request Entity Too Large */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unsupported Media Type */
      415: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  delete_pause: {
    parameters: {
      query?: {
        /** @description The very scope that was paused. */
        scope?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Not Found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request Entity Too Large */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unsupported Media Type */
      415: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_policies: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["PolicySetOut"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_effective_policy: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description Catalog. */
        catalog: string;
        /** @description Namespace levels joined by "."; a level that holds a dot in backticks. */
        namespace: string;
        /** @description Table name; a slash is written %2F. */
        table: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["EffectivePolicyOut"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Not Found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  preview_policy: {
    parameters: {
      query?: {
        /** @description Tables to check. */
        limit?: number;
        /** @description next_cursor of the page before. */
        cursor?: string | null;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["PreviewRequest"];
      };
    };
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["FleetPreview"];
        };
      };
      /** @description Bad Request */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request Entity Too Large */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unsupported Media Type */
      415: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_policy_schema: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": {
            [key: string]: unknown;
          };
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_suggested_policy: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description Catalog. */
        catalog: string;
        /** @description Namespace levels joined by "."; a level that holds a dot in backticks. */
        namespace: string;
        /** @description Table name; a slash is written %2F. */
        table: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["SuggestedPolicyOut"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Not Found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_governed_tables: {
    parameters: {
      query: {
        /** @description The policy file, as /policies names it. */
        name: string;
        /** @description Tables a page. */
        limit?: number;
        /** @description next_cursor of the page before. */
        cursor?: string | null;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["GovernedTables"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Not Found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  validate_policy: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["PolicyText"];
      };
    };
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["PolicyVerdict"];
        };
      };
      /** @description Bad Request */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request Entity Too Large */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unsupported Media Type */
      415: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_policy_versions: {
    parameters: {
      query?: {
        /** @description Items a page. */
        limit?: number;
        /** @description next_cursor of the page before. */
        cursor?: string | null;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["PolicyVersionPage"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_policy_diff: {
    parameters: {
      query: {
        /** @description A version, or `current`. */
        before: string;
        /** @description A version, or `current`. */
        after?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["PolicyDiff"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_pools: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["PoolOut"][];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_queue: {
    parameters: {
      query?: {
        /** @description Items a page. */
        limit?: number;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["QueueOut"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_replicas: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ReplicaOut"][];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_small_files_report: {
    parameters: {
      query?: {
        /** @description Estimate as if all tables were on this kind of storage. Default: the setting storage.profile of its catalog or impact.profile, else each table's location. */
        storage?: components["schemas"]["StorageProfile"] | null;
        /** @description Full reads of each table in a day. */
        scans_per_day?: number;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["SmallFilesReportOut"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_small_files_csv: {
    parameters: {
      query?: {
        /** @description Estimate as if all tables were on this kind of storage. Default: the setting storage.profile of its catalog or impact.profile, else each table's location. */
        storage?: components["schemas"]["StorageProfile"] | null;
        /** @description Full reads of each table in a day. */
        scans_per_day?: number;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description A head with the names of the columns, then a line for all tables, for each namespace and for each table to compact first. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "text/csv": string;
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_session: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["SessionOut"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  start_session: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["TokenSignIn"];
      };
    };
    responses: {
      /** @description Successful Response */
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      /** @description Bad Request */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request Entity Too Large */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unsupported Media Type */
      415: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  end_session: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request Entity Too Large */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unsupported Media Type */
      415: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  finish_sign_in: {
    parameters: {
      query?: {
        code?: string;
        state?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description To the provider, or back to the page. */
      302: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Not Found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  begin_sign_in: {
    parameters: {
      query?: {
        /** @description The page to return to, such as /jobs. */
        next?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description To the provider, or back to the page. */
      302: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Not Found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_settings: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["SettingsOut"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_status: {
    parameters: {
      query?: {
        /** @description Only this catalog. */
        catalog?: string | null;
        /** @description Only this namespace of the catalog and those nested in it. */
        namespace?: string | null;
        /** @description Items a page. */
        limit?: number;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["StatusOut"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_tables: {
    parameters: {
      query?: {
        /** @description Items a page. */
        limit?: number;
        /** @description next_cursor of the page before. */
        cursor?: string | null;
        /** @description A part of the full name, in upper or lower case. */
        search?: string;
        /** @description Only this catalog. */
        catalog?: string | null;
        /** @description Only this namespace and those nested in it; levels joined by ".". */
        namespace?: string | null;
        /** @description Only this band. */
        band?: components["schemas"]["Band"] | null;
        /** @description Only tables in this state. */
        state?: components["schemas"]["TableState"] | null;
        /** @description With - in front: descending. `-band` is the worst band first, and within a band the greatest benefit of maintenance. */
        sort?:
          | "name"
          | "-name"
          | "band"
          | "-band"
          | "average_file_size_bytes"
          | "-average_file_size_bytes"
          | "data_files"
          | "-data_files"
          | "data_bytes"
          | "-data_bytes"
          | "small_files"
          | "-small_files"
          | "small_file_ratio"
          | "-small_file_ratio"
          | "delete_files"
          | "-delete_files"
          | "manifests"
          | "-manifests"
          | "snapshots"
          | "-snapshots"
          | "measured_at"
          | "-measured_at";
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["TablePage"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_tables_csv: {
    parameters: {
      query?: {
        /** @description A part of the full name, in upper or lower case. */
        search?: string;
        /** @description Only this catalog. */
        catalog?: string | null;
        /** @description Only this namespace and those nested in it; levels joined by ".". */
        namespace?: string | null;
        /** @description Only this band. */
        band?: components["schemas"]["Band"] | null;
        /** @description Only tables in this state. */
        state?: components["schemas"]["TableState"] | null;
        /** @description With - in front: descending. `-band` is the worst band first, and within a band the greatest benefit of maintenance. */
        sort?:
          | "name"
          | "-name"
          | "band"
          | "-band"
          | "average_file_size_bytes"
          | "-average_file_size_bytes"
          | "data_files"
          | "-data_files"
          | "data_bytes"
          | "-data_bytes"
          | "small_files"
          | "-small_files"
          | "small_file_ratio"
          | "-small_file_ratio"
          | "delete_files"
          | "-delete_files"
          | "manifests"
          | "-manifests"
          | "snapshots"
          | "-snapshots"
          | "measured_at"
          | "-measured_at";
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description A head with the names of the columns, then a line for each table. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "text/csv": string;
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_table: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description Catalog. */
        catalog: string;
        /** @description Namespace levels joined by "."; a level that holds a dot in backticks. */
        namespace: string;
        /** @description Table name; a slash is written %2F. */
        table: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["TableDetail"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Not Found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_expiry: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description Catalog. */
        catalog: string;
        /** @description Namespace levels joined by "."; a level that holds a dot in backticks. */
        namespace: string;
        /** @description Table name; a slash is written %2F. */
        table: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["ExpiryOut"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Not Found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Conflict */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_history: {
    parameters: {
      query?: {
        metric?:
          | "average_file_size_bytes"
          | "data_files"
          | "data_bytes"
          | "small_files"
          | "small_file_ratio"
          | "records"
          | "position_delete_files"
          | "equality_delete_files"
          | "deletion_vectors"
          | "manifests"
          | "manifest_bytes"
          | "snapshots"
          | "metadata_bytes"
          | "small_file_bytes"
          | "delete_bytes"
          | "delete_records"
          | "delete_file_ratio"
          | "data_manifests"
          | "delete_manifests"
          | "manifest_excess"
          | "branches"
          | "tags"
          | "partition_skew"
          | "kept_data_files"
          | "live_file_ratio"
          | "commits_per_hour"
          | "growth_bytes_per_day"
          | "growth_records_per_day"
          | "metadata_files"
          | "storage_files";
        /** @description RFC 3339; 30 days before `to` when left out. */
        from?: string | null;
        /** @description RFC 3339; now when left out. */
        to?: string | null;
      };
      header?: never;
      path: {
        /** @description Catalog. */
        catalog: string;
        /** @description Namespace levels joined by "."; a level that holds a dot in backticks. */
        namespace: string;
        /** @description Table name; a slash is written %2F. */
        table: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["History"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Not Found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  post_measurement: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description Catalog. */
        catalog: string;
        /** @description Namespace levels joined by "."; a level that holds a dot in backticks. */
        namespace: string;
        /** @description Table name; a slash is written %2F. */
        table: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["TableDetail"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Not Found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request Entity Too Large */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unsupported Media Type */
      415: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_orphan_lists: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description Catalog. */
        catalog: string;
        /** @description Namespace levels joined by "."; a level that holds a dot in backticks. */
        namespace: string;
        /** @description Table name; a slash is written %2F. */
        table: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["OrphanLists"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Not Found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_orphan_list: {
    parameters: {
      query?: {
        /** @description How many files to pass over. */
        after?: number;
        limit?: number;
      };
      header?: never;
      path: {
        /** @description The id of the job that made the list. */
        list: string;
        /** @description Catalog. */
        catalog: string;
        /** @description Namespace levels joined by "."; a level that holds a dot in backticks. */
        namespace: string;
        /** @description Table name; a slash is written %2F. */
        table: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["OrphanFiles"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Not Found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  approve_orphans: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The id of the job that made the list. */
        list: string;
        /** @description Catalog. */
        catalog: string;
        /** @description Namespace levels joined by "."; a level that holds a dot in backticks. */
        namespace: string;
        /** @description Table name; a slash is written %2F. */
        table: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["ApprovalRequest"];
      };
    };
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["OrphanListOut"];
        };
      };
      /** @description Bad Request */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Not Found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Conflict */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request Entity Too Large */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unsupported Media Type */
      415: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  reject_orphans: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The id of the job that made the list. */
        list: string;
        /** @description Catalog. */
        catalog: string;
        /** @description Namespace levels joined by "."; a level that holds a dot in backticks. */
        namespace: string;
        /** @description Table name; a slash is written %2F. */
        table: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["DecisionRequest"];
      };
    };
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["OrphanListOut"];
        };
      };
      /** @description Bad Request */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Not Found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Conflict */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request Entity Too Large */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unsupported Media Type */
      415: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  restore_orphans: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The id of the job that made the list. */
        list: string;
        /** @description Catalog. */
        catalog: string;
        /** @description Namespace levels joined by "."; a level that holds a dot in backticks. */
        namespace: string;
        /** @description Table name; a slash is written %2F. */
        table: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["DecisionRequest"];
      };
    };
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["OrphanListOut"];
        };
      };
      /** @description Bad Request */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Not Found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Conflict */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request Entity Too Large */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unsupported Media Type */
      415: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_partitions: {
    parameters: {
      query?: {
        /** @description Worst first: the most of a count, the smallest average. */
        sort?:
          "small_files" | "data_files" | "average_file_size_bytes" | "data_bytes" | "delete_files";
        /** @description Items a page. */
        limit?: number;
      };
      header?: never;
      path: {
        /** @description Catalog. */
        catalog: string;
        /** @description Namespace levels joined by "."; a level that holds a dot in backticks. */
        namespace: string;
        /** @description Table name; a slash is written %2F. */
        table: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["PartitionPage"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Not Found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  pause_table: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description Catalog. */
        catalog: string;
        /** @description Namespace levels joined by "."; a level that holds a dot in backticks. */
        namespace: string;
        /** @description Table name; a slash is written %2F. */
        table: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["PauseRequest"] | null;
      };
    };
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["PauseOut"];
        };
      };
      /** @description Bad Request */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Not Found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request Entity Too Large */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unsupported Media Type */
      415: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_pins: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description Catalog. */
        catalog: string;
        /** @description Namespace levels joined by "."; a level that holds a dot in backticks. */
        namespace: string;
        /** @description Table name; a slash is written %2F. */
        table: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["PinList"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Not Found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Conflict */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  set_pin: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description Catalog. */
        catalog: string;
        /** @description Namespace levels joined by "."; a level that holds a dot in backticks. */
        namespace: string;
        /** @description Table name; a slash is written %2F. */
        table: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        "application/json": components["schemas"]["PinRequest"];
      };
    };
    responses: {
      /** @description Successful Response */
      201: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["PinOut"];
        };
      };
      /** @description Bad Request */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Not Found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Conflict */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request Entity Too Large */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unsupported Media Type */
      415: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  remove_pin: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        name: string;
        /** @description Catalog. */
        catalog: string;
        /** @description Namespace levels joined by "."; a level that holds a dot in backticks. */
        namespace: string;
        /** @description Table name; a slash is written %2F. */
        table: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Not Found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Conflict */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request Entity Too Large */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unsupported Media Type */
      415: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_plan: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description Catalog. */
        catalog: string;
        /** @description Namespace levels joined by "."; a level that holds a dot in backticks. */
        namespace: string;
        /** @description Table name; a slash is written %2F. */
        table: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["PlanOut"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Not Found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  preview_plan: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description Catalog. */
        catalog: string;
        /** @description Namespace levels joined by "."; a level that holds a dot in backticks. */
        namespace: string;
        /** @description Table name; a slash is written %2F. */
        table: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["PolicyText"] | null;
      };
    };
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["PlanOut"];
        };
      };
      /** @description Bad Request */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Not Found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request Entity Too Large */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unsupported Media Type */
      415: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_rescue: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description Catalog. */
        catalog: string;
        /** @description Namespace levels joined by "."; a level that holds a dot in backticks. */
        namespace: string;
        /** @description Table name; a slash is written %2F. */
        table: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["RescuePlanOut"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Not Found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  resume_table: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description Catalog. */
        catalog: string;
        /** @description Namespace levels joined by "."; a level that holds a dot in backticks. */
        namespace: string;
        /** @description Table name; a slash is written %2F. */
        table: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Not Found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request Entity Too Large */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unsupported Media Type */
      415: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  run_table: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description Catalog. */
        catalog: string;
        /** @description Namespace levels joined by "."; a level that holds a dot in backticks. */
        namespace: string;
        /** @description Table name; a slash is written %2F. */
        table: string;
      };
      cookie?: never;
    };
    requestBody?: {
      content: {
        "application/json": components["schemas"]["RunRequest"] | null;
      };
    };
    responses: {
      /** @description Successful Response */
      202: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["RunAccepted"];
        };
      };
      /** @description Bad Request */
      400: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Not Found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request Entity Too Large */
      413: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unsupported Media Type */
      415: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_snapshots: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description Catalog. */
        catalog: string;
        /** @description Namespace levels joined by "."; a level that holds a dot in backticks. */
        namespace: string;
        /** @description Table name; a slash is written %2F. */
        table: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["SnapshotList"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Not Found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Conflict */
      409: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_verdicts: {
    parameters: {
      query?: {
        /** @description Items a page. */
        limit?: number;
        /** @description next_cursor of the page before. */
        cursor?: string | null;
      };
      header?: never;
      path: {
        /** @description Catalog. */
        catalog: string;
        /** @description Namespace levels joined by "."; a level that holds a dot in backticks. */
        namespace: string;
        /** @description Table name; a slash is written %2F. */
        table: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["VerdictPage"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Not Found */
      404: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_trends: {
    parameters: {
      query: {
        /** @description Full names of at most 50 tables. */
        table: string[];
        metric?:
          | "average_file_size_bytes"
          | "data_files"
          | "data_bytes"
          | "small_files"
          | "small_file_ratio"
          | "records"
          | "position_delete_files"
          | "equality_delete_files"
          | "deletion_vectors"
          | "manifests"
          | "manifest_bytes"
          | "snapshots"
          | "metadata_bytes"
          | "small_file_bytes"
          | "delete_bytes"
          | "delete_records"
          | "delete_file_ratio"
          | "data_manifests"
          | "delete_manifests"
          | "manifest_excess"
          | "branches"
          | "tags"
          | "partition_skew"
          | "kept_data_files"
          | "live_file_ratio"
          | "commits_per_hour"
          | "growth_bytes_per_day"
          | "growth_records_per_day"
          | "metadata_files"
          | "storage_files";
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["TrendsOut"];
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_liveness: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Liveness"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Service Unavailable */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_metrics: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "text/plain": string;
        };
      };
      /** @description Unauthorized */
      401: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Forbidden */
      403: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
    };
  };
  get_readiness: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Successful Response */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Readiness"];
        };
      };
      /** @description Request-URI Too Long */
      414: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Misdirected Request */
      421: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Unprocessable Entity */
      422: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Too Many Requests */
      429: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/problem+json": components["schemas"]["Problem"];
        };
      };
      /** @description Something that the daemon needs does not work. */
      503: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          "application/json": components["schemas"]["Readiness"];
        };
      };
    };
  };
}
