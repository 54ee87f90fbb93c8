import { randomUUID } from 'node:crypto'
import { pauseText, type SyncPause } from './control.ts'
import { listPaused } from './paused.ts'
import { openRemoteControl } from './remote.ts'
import { socketPath } from '../base/socket/socket.ts'
import type { Config, SourceConfig, SyncConfig } from '../config/config.ts'
import { DirsyncdError, sentence } from '../base/errors.ts'
import type { Log } from '../base/log/log.ts'
import { addressFault } from '../core/entries/normalize.ts'
import type { SourceSnapshot } from '../core/entries/snapshot.ts'
import type { UserEntry } from '../core/entries/entry.ts'
import type { FoundEntry, ProbeLevel, Source } from '../source/source.ts'
import {
  countSource,
  type Finding,
  findingsOf,
  type Mapped,
  type SourceCounts,
} from '../source/statistics.ts'
import { Logins } from '../source/ldap/connection/logins.ts'
import { explainStoreError } from '../base/database/outage.ts'
import { refusedLogins } from './refused-logins.ts'
import { mayHaveEmail } from '../core/diff/rules.ts'
import { domainsInWords, type EmailTally, tallyEmails } from '../source/email-tally.ts'
import { checkAccess } from './check-access.ts'
import { findLeftBehind, type LeftBehind, leftBehindText } from './init/left-behind.ts'
import { whyStoresAreAway } from '../compose/readiness.ts'
import { createLimit } from '../queue/request-budget.ts'
import { openClient, openSite, openSource, type Site, tryEmptySite } from '../compose/site.ts'
import { isThisMachine } from '../base/this-machine.ts'
import { trustThisMachine } from '../config/authorities.ts'
import { digits } from '../base/wording.ts'

/** `ok`: works; `info`: a fact; `warn`: works, but needs attention; `fail`: does not work. */
export type CheckLevel = ProbeLevel | 'fail'

/** `sync` is empty when the result concerns every sync. */
export type CheckItem = CheckLine | CheckCounts | CheckFinding | CheckSamples | CheckTrace

export interface CheckLine {
  readonly type: 'line'
  readonly sync: string
  readonly part: 'site' | 'source' | 'directory'
  readonly label: string
  readonly level: CheckLevel
  readonly detail: string
}

export interface CheckCounts extends SourceCounts {
  readonly type: 'counts'
  readonly sync: string
}

/** A finding about the entries of the source; `examples` are names, and empty where none are wanted. */
export interface CheckFinding extends Finding {
  readonly type: 'finding'
  readonly sync: string
  readonly level: CheckLevel
}

export interface CheckSamples {
  readonly type: 'samples'
  readonly sync: string
  readonly users: readonly UserEntry[]
  readonly groups: readonly { readonly id: string; readonly name: string; readonly members: number }[]
}

export interface CheckTrace extends Pick<FoundEntry, 'kind' | 'from' | 'fields'> {
  readonly type: 'trace'
  readonly sync: string
  readonly id: string
}

export interface CheckRequest {
  readonly writes: boolean
  /** Whether to show entries by name, the only personal data of a check. */
  readonly samples: boolean
  readonly sync?: string
}

/** Tests stores, sources, tokens and directories. Problems are lines, not errors. */
export async function* runCheck(
  config: Config,
  log: Log,
  request: CheckRequest,
  signal: AbortSignal,
): AsyncGenerator<CheckItem> {
  await using stack = new AsyncDisposableStack()
  trustThisMachine(config.syncs)
  yield { ...SITE, label: 'configuration', level: 'ok', detail: config.file }
  const { line, site, paused } = await checkStores(stack, config, log)
  yield line
  for (const pause of paused)
    if (request.sync === undefined || pause.sync === request.sync)
      yield { ...SITE, label: 'paused', level: 'warn', detail: pauseText(pause) }
  // Beside a daemon with embedded stores, only this command's own refused logins are known.
  const logins = new Logins(site && refusedLogins(site.store.db))
  for (const sync of config.syncs) {
    if (request.sync !== undefined && sync.name !== request.sync) continue
    yield* checkSource(sync, { samples: request.samples ? SAMPLES : undefined, log, logins }, signal)
    yield* checkDirectory(sync, { site, log, writes: request.writes }, signal)
  }
}

const COMMAND = 'dirsyncd check'

const SITE = { type: 'line', sync: '', part: 'site' } as const

/** Skips stores that a running daemon of this configuration has open. */
async function checkStores(
  stack: AsyncDisposableStack,
  config: Config,
  log: Log,
): Promise<{ line: CheckLine; site: Site | undefined; paused: readonly SyncPause[] }> {
  const base = { ...SITE, label: 'stores' }
  try {
    if (config.store.kind === 'embedded') {
      await using daemon = await openRemoteControl(socketPath(config.dataDir))
      if (daemon) {
        const line = { ...base, level: 'ok', detail: 'the running daemon has them' } as const
        return { line, site: undefined, paused: await daemon.paused() }
      }
    }
    const site = stack.use(await openSite(config, COMMAND, log, { tables: 'keep' }))
    const away = await whyStoresAreAway(site)
    const tested =
      away === undefined
        ? ({ level: 'ok', detail: `${config.store.kind} store, ${queueText(config)}` } as const)
        : ({ level: 'fail', detail: `${away.why}: ${away.error}` } as const)
    return { line: { ...base, ...tested }, site, paused: await listPaused(site.store.db) }
  } catch (error) {
    const isEmpty = error instanceof DirsyncdError && error.code === 'store-empty'
    const tested = isEmpty
      ? await checkEmpty(config, log)
      : ({ level: 'fail', detail: sentence(error) } as const)
    return { line: { ...base, ...tested }, site: undefined, paused: [] }
  }
}

async function checkEmpty(config: Config, log: Log): Promise<Pick<CheckLine, 'level' | 'detail'>> {
  const what = `${config.store.kind} store, which is empty`
  try {
    await tryEmptySite(config, COMMAND, log)
    const detail = `${what}: the first dirsyncd start, sync or plan makes its tables, which this user may; ${queueText(config)}`
    return { level: 'ok', detail }
  } catch (error) {
    return {
      level: 'fail',
      detail: `${what}, and the first start would fail: ${sentence(explainStoreError(error))}`,
    }
  }
}

function queueText({ queue }: Config): string {
  return `queue on ${queue.kind === 'redis' ? 'Redis' : 'the store'}`
}

/** The number of named entries of each kind; `undefined`: none, and no examples either. */
type Samples = { readonly users: number; readonly groups: number } | undefined

export async function* checkSource(
  sync: SyncConfig,
  {
    samples,
    log,
    logins,
    onEmails,
  }: {
    readonly samples: Samples
    readonly log: Log
    readonly logins: Logins
    readonly onEmails?: (tally: EmailTally) => void
  },
  signal: AbortSignal,
): AsyncGenerator<CheckItem> {
  const base = { type: 'line', sync: sync.name, part: 'source' } as const
  try {
    // The check prints the warnings of a source, so they are not logged too.
    const source = openSource(
      sync.source,
      log.child({ sync: sync.name }, { level: withoutWarnings(log.level) }),
      { logins },
    )
    for (const line of await source.probe(signal)) yield { ...base, ...line }
    const snapshot = await source.read(signal, { isAsked: true, isForDisplay: true })
    onEmails?.(tallyEmails(snapshot.users.values()))
    yield { type: 'counts', sync: sync.name, ...countSource(snapshot) }
    yield* findings(sync, snapshot, samples !== undefined)
    if (samples !== undefined) yield* sampleEntries(sync.name, { source, snapshot, samples }, signal)
  } catch (error) {
    signal.throwIfAborted()
    yield { ...base, label: 'source', level: 'fail', detail: sentence(error) }
  }
}

export function withoutWarnings(level: string): string {
  return level === 'warn' ? 'error' : level
}

function* findings(
  sync: SyncConfig,
  snapshot: SourceSnapshot,
  samples: boolean,
): Generator<CheckFinding | CheckLine> {
  for (const finding of findingsOf(snapshot, mappedOf(sync.source))) {
    const level = LEVELS.get(finding.code) ?? 'warn'
    const examples = samples ? finding.examples : []
    yield { type: 'finding', sync: sync.name, ...finding, examples, level }
  }
  const bad = badEmailFinding(sync, snapshot, samples)
  if (bad !== undefined) yield { type: 'finding', sync: sync.name, ...bad }
  yield* addressLines(sync, snapshot, samples)
  yield* nameLines(sync.name, snapshot, samples)
}

/** Many services refuse invalid addresses and addresses of foreign domains. */
function* addressLines(
  { name: sync, directory }: SyncConfig,
  { users }: SourceSnapshot,
  samples: boolean,
): Generator<CheckLine> {
  // With known domains, the finding has all others.
  if (directory.allowedDomains !== undefined) return
  const base = { type: 'line', sync, part: 'source' } as const
  const { bad, domains } = tallyEmails(users.values())
  if (bad.length > 0 && !directory.dropBadEmails) {
    const named = bad.slice(0, 3).map((email) => `"${email}"`)
    const such = samples ? `, such as ${named.join(', ')}` : ''
    const are = bad.length === 1 ? '1 e-mail is no address' : `${digits(bad.length)} e-mails are no addresses`
    yield {
      ...base,
      label: 'e-mail',
      level: 'warn',
      detail: `${are}${such}; a service may refuse these users, whom directory.dropBadEmails: true writes without it`,
    }
  }
  if (domains.length < 2) return
  const hint =
    'where the service takes only some, name them in directory.allowedDomains: people with others are left out then, ' +
    'or written without it with directory.dropBadEmails: true'
  yield { ...base, label: 'domains', level: 'info', detail: `${domainsInWords(domains)}; ${hint}` }
}

/** Characters that are no part of a name, or that swap its parts: services split names into first and last ones. */
const ODD_NAMES: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['a comma', /,/],
  ['brackets', /[()[\]]/],
  ['a lonely sign', /(?:^|\s)[^\p{L}\p{N}\s](?:\s|$)/u],
]

function* nameLines(sync: string, { users }: SourceSnapshot, samples: boolean): Generator<CheckLine> {
  const names = [...users.values()].flatMap(({ name }) => (name === undefined ? [] : [name]))
  const odd = ODD_NAMES.flatMap(([what, pattern]) => {
    const found = names.filter((name) => pattern.test(name))
    const such = samples ? ` (such as "${found[0]}")` : ''
    return found.length === 0 ? [] : [`${digits(found.length)} with ${what}${such}`]
  })
  if (odd.length === 0) return
  const detail = `${odd.join(', ')}: a service may take them apart in another way than you`
  yield { type: 'line', sync, part: 'source', label: 'names', level: 'info', detail }
}

/** `disabled` is no warning: a source reports it only when the configuration handles such accounts. */
const LEVELS: ReadonlyMap<Finding['code'], CheckLevel> = new Map([
  ['nobody', 'fail'],
  ['disabled', 'info'],
])

function badEmailFinding(
  { directory }: SyncConfig,
  { users }: SourceSnapshot,
  samples: boolean,
): Omit<CheckFinding, 'sync' | 'type'> | undefined {
  const { allowedDomains = [], dropBadEmails } = directory
  const others = [...users.values()].filter(
    ({ email }) => email !== undefined && !mayHaveEmail(email, undefined, { allowedDomains, dropBadEmails }),
  )
  if (others.length === 0) return undefined
  const who = others.length === 1 ? '1 user has' : `${digits(others.length)} users have`
  const faults = new Set(others.map(({ email = '' }) => addressFault(email, allowedDomains)))
  const what = [
    ...(faults.has('no-address') ? ['no address'] : []),
    ...(faults.has('other-domain') ? ['outside allowedDomains'] : []),
  ]
  const have = `${who} an e-mail that is ${what.join(', or ')}`
  return {
    level: 'warn',
    code: dropBadEmails ? 'email-dropped' : 'email-not-allowed',
    count: others.length,
    sentence: `${have}; ${dropBadEmails ? 'it is not written' : 'nothing is written for them'}`,
    examples: samples ? others.slice(0, 3).map(({ email = '' }) => email) : [],
  }
}

function mappedOf({ options }: SourceConfig): Mapped {
  const { email, name } = options.users.map
  return { email: email !== undefined, name: name !== undefined }
}

const SAMPLES = { users: 7, groups: 3 }

interface Sampling {
  readonly source: Source
  readonly snapshot: SourceSnapshot
  readonly samples: NonNullable<Samples>
}

async function* sampleEntries(
  sync: string,
  { source, snapshot, samples }: Sampling,
  signal: AbortSignal,
): AsyncGenerator<CheckItem> {
  const users = [...snapshot.users.values()].slice(0, samples.users)
  const groups = [...snapshot.groups.values()].slice(0, samples.groups)
  const short = groups.map(({ id, name, members }) => ({ id, name, members: members.length }))
  if (users.length + groups.length > 0) yield { type: 'samples', sync, users, groups: short }
  const [first] = users
  if (first === undefined) return
  const { id } = first
  const { entries } = await source.find({ who: id, kinds: ['user'] }, signal)
  for (const { kind, from, fields } of entries.slice(0, 1))
    yield { type: 'trace', sync, kind, id, from, fields }
}

const HEARD = 'everybody on the way can read the token and all people; use https://'

export const LEFT_BEHIND = 'left behind'
const DELETE_THEM =
  'unless dirsyncd is at it just now, delete that in the service, or let dirsyncd init do it at a terminal'

export async function* checkDirectory(
  sync: SyncConfig,
  {
    site,
    log,
    writes,
    onLeftBehind,
  }: {
    readonly site: Site | undefined
    readonly log: Log
    readonly writes: boolean
    readonly onLeftBehind?: (entries: readonly LeftBehind[]) => void
  },
  signal: AbortSignal,
): AsyncGenerator<CheckLine> {
  const base = { type: 'line', sync: sync.name, part: 'directory' } as const
  const limit = site && createLimit(sync.directory, { backend: site.backend, pool: site.store.pool })
  const device = site?.deviceId ?? `dirsyncd-check-${randomUUID()}`
  // A line of the check says how long the token lives, so nothing warns of it too.
  await using client = openClient(sync, { deviceId: device, limit, onTokenLife: () => {}, log })
  const { directoryId, baseUrl } = sync.directory
  if (/^http:/i.test(baseUrl) && !isThisMachine(new URL(baseUrl).hostname))
    yield { ...base, label: 'encryption', level: 'warn', detail: `${baseUrl} is not encrypted: ${HEARD}` }
  try {
    const access = await checkAccess(client, { directoryId }, { writes }, signal)
    for (const { label, ok, detail } of access) yield { ...base, label, level: ok ? 'ok' : 'fail', detail }
    if (access.some(({ label, ok }) => !ok && label !== 'writing')) return
    const left = await findLeftBehind(client, directoryId, signal)
    if (left.length === 0) return
    onLeftBehind?.(left)
    yield { ...base, label: LEFT_BEHIND, level: 'warn', detail: `${leftBehindText(left)}; ${DELETE_THEM}` }
  } catch (error) {
    signal.throwIfAborted()
    yield { ...base, label: 'directory', level: 'fail', detail: sentence(error) }
  }
}
