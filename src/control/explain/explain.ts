import type { Kysely } from 'kysely'
import type { DirectoryGroup, DirectoryUser, Kind } from '../../directory/entry.ts'
import { canonicalEmail } from '../../directory/normalize.ts'
import { sentence } from '../../errors.ts'
import { type Change, fingerprint } from '../../plan/change.ts'
import type { Grace } from '../../plan/grace.ts'
import type { PlanRules } from '../../plan/inputs.ts'
import type { Found, FoundEntry, Source } from '../../source/source.ts'
import {
  approverOf,
  type EntryKey,
  journalOf,
  knownEntries,
  lastRunAbout,
  openHoldOf,
} from '../../store/entry-history.ts'
import { heldBreaches } from '../../store/held-changes.ts'
import { deletedIdsLastDay } from '../../store/journal.ts'
import type { SyncTarget } from '../../store/run-types.ts'
import type { Tables } from '../../store/tables.ts'
import { recall } from '../../sync/memory.ts'
import type { Explanation, ExplainRequest, JournalEntry, Match, Story } from '../story.ts'
import { judge, type Judged } from './judge.ts'
import { judgementOf } from './verdict.ts'

/** Both sides of one sync, and its rules. */
export interface Sides {
  readonly find: Source['find']
  /** The directory's entry; throws a `DirsyncdError` where it cannot be asked. */
  readonly lookUp: (key: EntryKey, signal: AbortSignal) => Promise<DirectoryUser | DirectoryGroup | undefined>
  readonly rules: PlanRules
  readonly grace: Grace
}

export interface ExplainDeps extends Sides {
  readonly db: Kysely<Tables>
  readonly target: SyncTarget
}

/** A person waits, and a daemon's answer is waited for a minute at most. */
const PATIENCE_MS = 50_000
const DIRECTORY_PATIENCE_MS = 10_000
const JOURNAL_LINES = 10
/** A shared mailbox may have many users. */
const MOST_SHARING = 10

/** Tells the story of one user or group. Changes nothing. */
export async function explain(deps: ExplainDeps, request: ExplainRequest): Promise<Explanation> {
  const { sync, who } = request
  const kinds: readonly Kind[] = request.kind === undefined ? ['user', 'group'] : [request.kind]
  const asked = await askSource(deps, who, kinds)
  const matches = await matchesOf(deps, asked, who, kinds)
  const [only] = matches
  if (matches.length > 1) return { result: 'several', sync, who, matches }
  if (only === undefined) return nobody(asked, request)
  return storyOf(deps, asked, request, only)
}

/** What the source says, or why it says nothing. */
type Asked =
  | { readonly found: Found; readonly error: null }
  | { readonly found: null; readonly error: string }

async function askSource(deps: ExplainDeps, who: string, kinds: readonly Kind[]): Promise<Asked> {
  try {
    return { found: await deps.find({ who, kinds }, AbortSignal.timeout(PATIENCE_MS)), error: null }
  } catch (error) {
    return { found: null, error: sentence(error) }
  }
}

/** Everybody who may be meant, each user or group once. */
async function matchesOf(
  deps: ExplainDeps,
  { found }: Asked,
  who: string,
  kinds: readonly Kind[],
): Promise<readonly Match[]> {
  const inSource = (found?.entries ?? []).map(matchOf)
  const isById = inSource.some(({ id, from }) => id === who || from === who)
  const others = isById ? [] : await inDirectory(deps, who, kinds)
  const known = inSource.length + others.length > 0 ? [] : await inStore(deps, who, kinds)
  const all = new Map<string, Match>()
  for (const match of [...inSource, ...others, ...known]) {
    const key = `${match.kind} ${match.id ?? match.from}`
    if (!all.has(key)) all.set(key, match)
  }
  return [...all.values()]
}

function matchOf({ kind, ids, from, fields }: FoundEntry): Match {
  const valueOf = (field: string) => fields.find((each) => each.field === field)?.value ?? null
  return { kind, id: ids.length === 1 ? ids[0]! : null, name: valueOf('name'), email: valueOf('email'), from }
}

/** The API finds nobody but by id. */
async function inDirectory(
  deps: ExplainDeps,
  who: string,
  kinds: readonly Kind[],
): Promise<readonly Match[]> {
  const matches: Match[] = []
  for (const kind of kinds) {
    const { entry } = await askDirectory(deps, { kind, id: who })
    if (entry === null) continue
    const email = 'email' in entry ? entry.email : null
    matches.push({ kind, id: who, name: entry.name, email, from: 'the directory' })
  }
  return matches
}

async function inStore(
  { db, target }: ExplainDeps,
  who: string,
  kinds: readonly Kind[],
): Promise<readonly Match[]> {
  const known = await knownEntries(db, target, who)
  const byId = known.filter(({ id }) => id === who)
  return (byId.length > 0 ? byId : known)
    .filter(({ kind }) => kinds.includes(kind))
    .map((entry) => ({ ...entry, from: 'an earlier run' }))
}

async function askDirectory({ lookUp }: ExplainDeps, key: EntryKey): Promise<Story['directory']> {
  try {
    return { error: null, entry: (await lookUp(key, AbortSignal.timeout(DIRECTORY_PATIENCE_MS))) ?? null }
  } catch (error) {
    return { error: sentence(error), entry: null }
  }
}

function nobody({ found, error }: Asked, { sync, who }: ExplainRequest): Explanation {
  const where = found === null ? '' : ` The source was searched ${found.searched}.`
  return {
    result: 'nobody',
    sync,
    who,
    verdict:
      error === null
        ? {
            code: 'never-seen',
            sentence: `Nobody knows "${who}": neither the source, nor the directory by this id, nor the kept runs of ${sync}.${where}`,
          }
        : {
            code: 'source-unreadable',
            sentence: `The source cannot be read now (${error.replace(/\.$/, '')}), and neither the directory nor the kept runs of ${sync} know "${who}".`,
          },
    todo:
      error === null
        ? 'Try the id, the e-mail, the full name or the DN.'
        : `dirsyncd check ${sync} shows what is wrong.`,
  }
}

async function storyOf(
  deps: ExplainDeps,
  asked: Asked,
  { sync, who }: ExplainRequest,
  match: Match,
): Promise<Story> {
  const { kind, id } = match
  const key = id === null ? undefined : { kind, id }
  // What was known by an old e-mail may be in the source under a new one.
  const isOther = key !== undefined && asked.found?.entries.length === 0 && key.id !== who
  const { found, error } = isOther ? await askSource(deps, key.id, [kind]) : asked
  const directory = key === undefined ? { error: null, entry: null } : await askDirectory(deps, key)
  const history = key === undefined ? NO_HISTORY : await historyOf(deps, key)
  const { judged, sameEmail } = await judgeEntry(deps, found, directory.entry, key)
  const hold = await holdOf(deps, judged.planned)
  const entries = found?.entries ?? []
  const first = entries[0] && matchOf(entries[0])
  const { entry } = directory
  const facts = {
    sync,
    kind,
    id,
    name: first?.name ?? entry?.name ?? match.name,
    email: first?.email ?? (entry !== null && 'email' in entry ? entry.email : match.email),
    source: { error, server: found?.server ?? null, searched: found?.searched ?? '', entries, sameEmail },
    directory,
    change: directory.error === null ? (judged.difference ?? null) : null,
    notices: judged.notices,
    hold: hold.ofChange,
    ...history,
  }
  const planned = directory.error === null ? judged.planned : undefined
  return { result: 'one', who, ...facts, ...judgementOf({ ...facts, planned, heldRun: hold.heldRun }) }
}

const NO_HISTORY: Pick<Story, 'lastRun' | 'journal'> = { lastRun: null, journal: [] }

async function historyOf({ db, target }: ExplainDeps, key: EntryKey): Promise<typeof NO_HISTORY> {
  const last = await lastRunAbout(db, target, key)
  const journal: JournalEntry[] = []
  for (const { at, approved, ...line } of await journalOf(db, target, key, JOURNAL_LINES)) {
    const approvedBy = approved ? ((await approverOf(db, target, line.run)) ?? '') : null
    journal.push({ ...line, at: at.toISOString(), approvedBy })
  }
  return { lastRun: last === undefined ? null : { ...last, at: last.at.toISOString() }, journal }
}

const NOTHING: Judged = { difference: undefined, planned: undefined, notices: [] }

async function judgeEntry(
  deps: ExplainDeps,
  found: Found | null,
  entry: DirectoryUser | DirectoryGroup | null,
  key: EntryKey | undefined,
): Promise<{ readonly judged: Judged; readonly sameEmail: readonly string[] }> {
  if (found === null) return { judged: NOTHING, sameEmail: [] }
  const { db, target, rules, grace } = deps
  const sameEmail = key === undefined ? [] : sharingEmail(found, key.id)
  const others = await Promise.all(
    sameEmail.slice(0, MOST_SHARING).map((id) => askDirectory(deps, { kind: 'user', id })),
  )
  const directory = [entry, ...others.map((other) => other.entry)].filter((each) => each !== null)
  const judged = judge({
    key: key ?? { kind: found.entries[0]?.kind ?? 'user', id: '' },
    found,
    directory,
    rules,
    grace,
    memory: await recall(db, target),
    deletedLastDay: await deletedIdsLastDay(db, target),
  })
  return { judged, sameEmail }
}

function sharingEmail({ snapshot: { users } }: Found, id: string): readonly string[] {
  const email = canonicalEmail(users.get(id)?.email ?? '')
  if (email === '') return []
  return [...users.values()]
    .filter((user) => user.id !== id && canonicalEmail(user.email ?? '') === email)
    .map((user) => user.id)
}

/** Whether a hold waits with this change, and which run holds everything. */
async function holdOf(
  { db, target }: ExplainDeps,
  change: Change | undefined,
): Promise<{ readonly ofChange: Story['hold']; readonly heldRun: number | null }> {
  const hold = await openHoldOf(db, target)
  if (hold === undefined) return { ofChange: null, heldRun: null }
  const { run, state, breaches } = hold
  const print = change && fingerprint(change)
  const naming = (await heldBreaches(db, run, breaches)).filter(
    ({ changes, decided }) => decided === undefined && print !== undefined && changes.includes(print),
  )
  const guards = [...new Set(naming.map(({ guard }) => guard))]
  return { ofChange: guards.length === 0 ? null : { run, guards }, heldRun: state === 'held' ? run : null }
}
