import { inTurns } from '../../base/turns.ts'
import { withoutExpired } from '../../core/ledger.ts'
import { Decisions } from '../../core/decisions.ts'
import type { DirectoryGroup, DirectoryUser, Kind, UserEntry } from '../../core/entries/entry.ts'
import { canonicalEmail } from '../../core/entries/normalize.ts'
import { type Faulty, isNotice } from '../../core/notice.ts'
import { changeSince } from '../../core/plan/configuration.ts'
import type { Found } from '../../source/source.ts'
import { loadStates } from '../../store/check-states.ts'
import { unconverged } from '../../store/convergence.ts'
import type { EntryKey } from './earlier-runs.ts'
import { deletedIdsLastDay } from '../../store/journal.ts'
import { loadLedger } from '../../store/ledgers.ts'
import { quarantined } from '../../store/quarantine.ts'
import { listPaused } from '../paused.ts'
import type { Explanation, ExplainRequest, Match, Nobody, SourceSide, Story } from '../story.ts'
import { blockedIn, historyOf, reasonsOfRun } from './history.ts'
import { type EntryFacts, judgeEntry, type Judged } from './judge.ts'
import { matchesOf, matchOf } from './matches.ts'
import { membersInQuestion } from './members.ts'
import { type Asked, askDirectory, askSource, type ExplainDeps } from './sides.ts'

/** A shared mailbox may have many users. */
const MOST_SHARING = 10

export async function explain(deps: ExplainDeps, request: ExplainRequest): Promise<Explanation> {
  const { sync, who } = request
  const kinds: readonly Kind[] = request.kind === undefined ? ['user', 'group'] : [request.kind]
  const asked = await askSource(deps, who, kinds)
  const { matches, directoryError } = await matchesOf(deps, asked, who, kinds)
  const [only] = matches
  if (matches.length > 1) return { result: 'several', sync, who, matches }
  return only === undefined ? nobody(asked, directoryError, request) : storyOf(deps, asked, request, only)
}

function nobody(
  { found, error }: Asked,
  directoryError: string | null,
  { sync, who }: ExplainRequest,
): Nobody {
  const searched = found?.searched ?? null
  return { result: 'nobody', sync, who, searched, error, directoryError, unreadable: unreadableIn(found) }
}

async function storyOf(
  deps: ExplainDeps,
  asked: Asked,
  { sync, who }: ExplainRequest,
  match: Match,
): Promise<Story> {
  const { kind, id } = match
  const key = id === null ? undefined : { kind, id }
  // An entry known by an old e-mail may be in the source under a new one.
  const isOther = key !== undefined && asked.found?.entries.length === 0 && key.id !== who
  const answer = isOther ? await askSource(deps, key.id, [kind]) : asked
  const { found } = answer
  const entries = found?.entries ?? []
  const directory = key === undefined ? { error: null, entry: null } : await askDirectory(deps, key)
  const history = await historyOf(deps, key)
  const known = await knownOf(deps, key)
  const judged = found === null ? undefined : await judge(deps, found, directory.entry, key, known)
  const isAsked = directory.error === null && judged !== undefined
  const { groups, ...blocked } = await blockedOf(deps, history.lastRun?.run, key, judged, known)
  const holders =
    found === null || entries.length > 0 ? [] : await emailHolders(deps, found, directory.entry ?? match)
  const { configuration } = known.states
  return {
    result: 'one',
    sync,
    who,
    kind,
    id,
    ...namesOf(match, directory.entry, entries[0] && matchOf(entries[0])),
    source: sourceSide(answer, [...(judged?.sameEmail ?? []).map(holderOf), ...holders]),
    directory,
    difference: isAsked ? judged.difference : null,
    planned: isAsked ? judged.planned : null,
    ...(isAsked ? blocked : NOT_BLOCKED),
    groups: judged?.membership === 'write' ? groups : [],
    notices: judged?.notices ?? [],
    paused: (await listPaused(deps.db)).find((pause) => pause.sync === sync) ?? null,
    ...history,
    isAbsenceKnown: key !== undefined && known.states.grace?.[kind].has(key.id) === true,
    membership: judged?.membership ?? 'off',
    sameMembers: judged?.sameMembers ?? null,
    sharesEmails: deps.rules.emails === 'shared',
    configurationChange: changeSince(configuration, deps.options) ?? null,
    completedRun: configuration?.run ?? null,
  }
}

const NOT_BLOCKED: Pick<Story, 'reasons' | 'question'> = { reasons: [], question: null }

async function blockedOf(
  deps: ExplainDeps,
  lastRun: number | undefined,
  key: EntryKey | undefined,
  judged: JudgedEntry | undefined,
  { decisions }: Known,
): Promise<Pick<Story, 'reasons' | 'question' | 'groups'>> {
  const { rows, groups } = await blockedIn(deps, lastRun, key)
  const own = (judged?.reasons ?? []).map((reason) => ({ ...reason, run: null }))
  if (judged === undefined || lastRun === undefined) return { reasons: own, question: null, groups }
  const isOfMembers = key?.kind === 'group' && judged.sameMembers === null
  const { reasons, question } = reasonsOfRun(lastRun, rows, judged, decisions, isOfMembers)
  const codes = new Set(own.map(({ code }) => code))
  return { reasons: [...own, ...reasons.filter(({ code }) => !codes.has(code))], question, groups }
}

function sourceSide({ found, error }: Asked, sameEmail: SourceSide['sameEmail']): SourceSide {
  return {
    error,
    server: found?.server ?? null,
    searched: found?.searched ?? '',
    unreadable: unreadableIn(found),
    entries: found?.entries ?? [],
    sameEmail,
  }
}

function unreadableIn(found: Found | null): readonly Faulty[] {
  const notices = found?.server === undefined ? (found?.snapshot.notices ?? []) : []
  return notices.flatMap((notice) => (isNotice(notice, 'unreadable') ? [notice.params] : []))
}

/**
 * Users of the source with the e-mail of the directory's or a deleted user, where the source lacks the id: perhaps the
 * same user with a new id or none. Only users that the sync reads. A source that is always read as a whole is not asked
 * again, and its entries without an id are not in the result.
 */
async function emailHolders(
  deps: ExplainDeps,
  { everybody }: Found,
  entry: DirectoryUser | DirectoryGroup | Match,
): Promise<SourceSide['sameEmail']> {
  if (!('email' in entry) || !entry.email) return []
  if (everybody !== undefined) return othersWith(everybody, entry.email, entry.id).map(holderOf)
  const { found } = await askSource(deps, entry.email, ['user'])
  const read = found?.entries.filter(({ standing }) => standing?.inBase === true && standing.inFilter)
  return (read ?? []).map(matchOf).map(({ id, name, from }) => ({ id, name, from }))
}

function holderOf({ id, name, from }: UserEntry): SourceSide['sameEmail'][number] {
  return { id, name: name ?? null, from }
}

function namesOf(
  known: Match,
  there: DirectoryUser | DirectoryGroup | null,
  wanted: Match | undefined,
): Pick<Story, 'name' | 'email'> {
  const email = there !== null && 'email' in there ? there.email : known.email
  return { name: wanted?.name ?? there?.name ?? known.name, email: wanted?.email ?? email }
}

type Known = Pick<EntryFacts, 'states' | 'decisions' | 'refusals' | 'now'>

async function knownOf(
  { db, target, approvalsExpireAfterMs }: ExplainDeps,
  key: EntryKey | undefined,
): Promise<Known> {
  const now = new Date()
  const { ledger } = await loadLedger(db, { ...target, origin: 'sync' })
  const inQuarantine = await quarantined(db, target)
  return {
    states: await loadStates(db, target),
    decisions: new Decisions(await inTurns(withoutExpired(ledger, now, approvalsExpireAfterMs))),
    refusals: [
      ...inQuarantine.filter(({ id }) => id === key?.id),
      ...(key === undefined ? [] : await unconverged(db, target, [key.id])),
    ],
    now,
  }
}

interface JudgedEntry extends Judged, Pick<Story, 'membership' | 'sameMembers'> {
  readonly sameEmail: readonly UserEntry[]
}

const NOBODY: EntryFacts['deletedLastDay'] = { user: new Set(), group: new Set() }

async function judge(
  deps: ExplainDeps,
  found: Found,
  entry: DirectoryUser | DirectoryGroup | null,
  key: EntryKey = { kind: found.entries[0]?.kind ?? 'user', id: '' },
  known: Known,
): Promise<JudgedEntry> {
  const { db, target, rules } = deps
  const sameEmail = sharingEmail(found, key.id)
  const others = await Promise.all(
    sameEmail.slice(0, MOST_SHARING).map(({ id }) => askDirectory(deps, { kind: 'user', id })),
  )
  const isGroup = entry !== null && 'members' in entry
  const members = isGroup ? await membersInQuestion(deps, found, entry) : undefined
  const judged = judgeEntry({
    ...deps,
    ...known,
    key,
    found,
    members,
    directory: [entry, ...others.map((other) => other.entry)].filter((each) => each !== null),
    // Only a lagging server can make a deleted user reappear.
    deletedLastDay: found.server === undefined ? NOBODY : await deletedIdsLastDay(db, target, [key.id]),
  })
  const membership = found.snapshot.covers.members ? rules.membership : 'off'
  return { ...judged, sameEmail, membership, sameMembers: members?.isSame ?? null }
}

function sharingEmail({ snapshot: { users } }: Found, id: string): readonly UserEntry[] {
  return othersWith(users, users.get(id)?.email ?? '', id)
}

function othersWith(
  users: Found['snapshot']['users'],
  email: string,
  id: string | null,
): readonly UserEntry[] {
  const wanted = canonicalEmail(email)
  if (wanted === '') return []
  const others: UserEntry[] = []
  for (const user of users.values())
    if (user.id !== id && canonicalEmail(user.email ?? '') === wanted) others.push(user)
  return others
}
