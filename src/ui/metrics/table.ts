export interface MetricSpec {
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** One sentence, shown by Prometheus. */
  readonly help: string
  readonly labels: readonly Label[]
  readonly buckets?: readonly number[]
  /**
   * `process`: measured in this process. `daemon`: read from the store and the configuration at each scrape; workers do
   * not report it, and every daemon on one store reports the same.
   */
  readonly from: 'process' | 'daemon'
}

/** Closed sets of label values, never an id, an address or a name of an entry. */
export const LABELS = {
  sync: 'the name of a sync',
  channel: 'the name of a channel of `notifications`',
  delivery: '`delivered`, `failed`, `given-up`',
  kind: '`user`, `group`',
  side: '`source`, `directory`',
  op: '`create-user`, `update-user`, `delete-user`, `create-group`, `update-group`, `set-members`, `delete-group`',
  outcome:
    '`applied`; `found` and `already`: it was so before; `missing`: nothing was there to update; `quarantined`, `failed`',
  phase:
    '`read`: source and directory; `plan`: until the guards have passed; `apply`: until the last change has its outcome',
  mode: '`sync`, `plan`',
  end: '`done`, `held`, `planned`, `failed`, `interrupted`',
  operation:
    'what is asked for: the name of an endpoint, such as `listUsers`, or `bind`, `search`, `extended`',
  status: 'the status of the answer, or `none` where no whole answer came',
  result:
    'the name of the result in RFC 4511, such as `success` or `busy`; `other`; `none` where no answer came',
  code: 'the code of a notice or a block, such as `container-emptied`; see [codes](codes.md)',
  until: '`decision`, `time`, `read`, `configuration`, `service`: what ends a block',
  reason: '`limited`: the service asked for it with 429; `outage`: it does not answer',
  store: '`embedded`, `postgres`',
  version: 'of dirsyncd',
  node: 'the version of Node',
} as const

export type Label = keyof typeof LABELS

const SECONDS_OF_RUNS = [1, 5, 15, 60, 300, 900, 3600, 14_400]
const SECONDS_OF_REQUESTS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** `docs/metrics.md` is made of this table. */
export const METRICS = {
  dirsyncd_build_info: {
    type: 'gauge',
    help: 'Always 1; the labels say which versions run.',
    labels: ['version', 'node'],
    from: 'process',
  },
  dirsyncd_sync_last_attempt_timestamp_seconds: {
    type: 'gauge',
    help: 'When the newest run of the sync began, plans and undos not counted; 0 where none has.',
    labels: ['sync'],
    from: 'daemon',
  },
  dirsyncd_sync_last_full_read_timestamp_seconds: {
    type: 'gauge',
    help: 'When a run last read source and directory as a whole, also where its plan was held; 0 where none has.',
    labels: ['sync'],
    from: 'daemon',
  },
  dirsyncd_sync_last_success_timestamp_seconds: {
    type: 'gauge',
    help: 'When a run of the whole sync last ended as done; 0 where none has.',
    labels: ['sync'],
    from: 'daemon',
  },
  dirsyncd_sync_due_timestamp_seconds: {
    type: 'gauge',
    help: 'The third newest scheduled time of a run. None for a sync that only runs on demand, or after a later decision or resumption.',
    labels: ['sync'],
    from: 'daemon',
  },
  dirsyncd_sync_failures: {
    type: 'gauge',
    help: 'How many runs in a row have failed; plans, undos, and runs that a pause or an orderly stop of their process ended are not counted.',
    labels: ['sync'],
    from: 'daemon',
  },
  dirsyncd_sync_paused: {
    type: 'gauge',
    help: '1 while the sync is paused.',
    labels: ['sync'],
    from: 'daemon',
  },
  dirsyncd_runs_total: {
    type: 'counter',
    help: 'Runs that this process has ended.',
    labels: ['sync', 'mode', 'end'],
    from: 'process',
  },
  dirsyncd_run_duration_seconds: {
    type: 'histogram',
    help: 'How long the phases of runs took.',
    labels: ['sync', 'phase'],
    buckets: SECONDS_OF_RUNS,
    from: 'process',
  },
  dirsyncd_entries: {
    type: 'gauge',
    help: 'Entries that the newest full read found.',
    labels: ['sync', 'side', 'kind'],
    from: 'daemon',
  },
  dirsyncd_planned_changes: {
    type: 'gauge',
    help: 'Changes that the newest run of the whole sync planned; runs of `dirsyncd plan` and undos are not counted.',
    labels: ['sync', 'op'],
    from: 'daemon',
  },
  dirsyncd_changes_total: {
    type: 'counter',
    help: 'Changes with a final outcome that this process has sent or found done.',
    labels: ['sync', 'op', 'outcome'],
    from: 'process',
  },
  dirsyncd_change_retries_total: {
    type: 'counter',
    help: 'Attempts after which a change was put back, to be tried again later in its run.',
    labels: ['sync', 'op'],
    from: 'process',
  },
  dirsyncd_notices: {
    type: 'gauge',
    help: 'Notices of the newest run about single entries, such as those that it skipped.',
    labels: ['sync', 'code'],
    from: 'daemon',
  },
  dirsyncd_open_questions: {
    type: 'gauge',
    help: 'Questions of the newest asking run that no operator has decided.',
    labels: ['sync'],
    from: 'daemon',
  },
  dirsyncd_rejected_changes: {
    type: 'gauge',
    help: 'Changes that the newest run of the whole sync left out, because an operator rejected them.',
    labels: ['sync', 'op'],
    from: 'daemon',
  },
  dirsyncd_last_rejection_timestamp_seconds: {
    type: 'gauge',
    help: 'When an operator last rejected one of these changes; `dirsyncd runs N` names the operator.',
    labels: ['sync'],
    from: 'daemon',
  },
  dirsyncd_blocked_changes: {
    type: 'gauge',
    help: 'Changes that the newest run of the whole sync blocked, by reason; a change may have several.',
    labels: ['sync', 'code', 'until'],
    from: 'daemon',
  },
  dirsyncd_quarantined_changes: {
    type: 'gauge',
    help: 'Changes that the service refused for their own content.',
    labels: ['sync'],
    from: 'daemon',
  },
  dirsyncd_pending_changes: {
    type: 'gauge',
    help: 'Changes of a run that is being applied that have no outcome yet.',
    labels: ['sync'],
    from: 'daemon',
  },
  dirsyncd_oldest_pending_change_seconds: {
    type: 'gauge',
    help: 'For how long the oldest change without an outcome has been waiting, since its run began to apply; 0 where none waits.',
    labels: ['sync'],
    from: 'daemon',
  },
  dirsyncd_api_requests_total: {
    type: 'counter',
    help: 'Requests to the service, retries included. Those of a list are its pages.',
    labels: ['sync', 'operation', 'status'],
    from: 'process',
  },
  dirsyncd_api_request_duration_seconds: {
    type: 'histogram',
    help: 'From a request to its whole answer.',
    labels: ['sync', 'operation'],
    buckets: SECONDS_OF_REQUESTS,
    from: 'process',
  },
  dirsyncd_api_retries_total: {
    type: 'counter',
    help: 'Requests that were sent again within seconds, after no answer or an error of the service.',
    labels: ['sync', 'operation'],
    from: 'process',
  },
  dirsyncd_api_wait_seconds: {
    type: 'gauge',
    help: 'Seconds until the service may be asked again; 0 while nothing keeps from it.',
    labels: ['sync', 'reason'],
    from: 'daemon',
  },
  dirsyncd_api_outages: {
    type: 'gauge',
    help: 'How often in a row the service did not answer when changes were sent: above 0, the breaker is open.',
    labels: ['sync'],
    from: 'daemon',
  },
  dirsyncd_token_left_seconds: {
    type: 'gauge',
    help: 'How long the access token lives on, as the service says; below 0 it has expired.',
    labels: ['sync'],
    from: 'daemon',
  },
  dirsyncd_token_expiring: {
    type: 'gauge',
    help: '1 while the access token ends soon: within a week, or within a tenth of its life where that is shorter.',
    labels: ['sync'],
    from: 'daemon',
  },
  dirsyncd_ldap_operations_total: {
    type: 'counter',
    help: 'Requests to LDAP servers; a search has one for each page.',
    labels: ['sync', 'operation', 'result'],
    from: 'process',
  },
  dirsyncd_notifications_total: {
    type: 'counter',
    help: 'Attempts of this process to deliver a notification.',
    labels: ['channel', 'delivery'],
    from: 'process',
  },
  dirsyncd_notifications_waiting: {
    type: 'gauge',
    help: 'Notifications that a channel has not delivered yet.',
    labels: ['channel'],
    from: 'daemon',
  },
  dirsyncd_store_up: {
    type: 'gauge',
    help: '1 while the store answers; without it, what only the store knows is missing.',
    labels: ['store'],
    from: 'process',
  },
  dirsyncd_store_bytes: {
    type: 'gauge',
    help: 'The size of the database of the store.',
    labels: ['store'],
    from: 'daemon',
  },
} as const satisfies Readonly<Record<string, MetricSpec>>

type Table = typeof METRICS

export type MetricName = keyof Table

export type NameOf<T extends MetricSpec['type']> = {
  [N in MetricName]: Table[N]['type'] extends T ? N : never
}[MetricName]

export type LabelsOf<N extends MetricName> = Readonly<Record<Table[N]['labels'][number], string>>
