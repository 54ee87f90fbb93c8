import type { DirectoryGroup, DirectoryUser, Kind, UserEntry } from '../../core/entries/entry.ts'
import { canonicalEmail } from '../../core/entries/normalize.ts'
import { changeSince } from '../../core/plan/configuration.ts'
import type { Found } from '../../source/source.ts'
import { type EntryKey, waitingMembershipsOf } from '../../store/entry-history.ts'
import { lastOptions } from '../../store/last-good.ts'
import { deletedIdsLastDay } from '../../store/journal.ts'
import { recallReasons } from '../../sync/memory.ts'
import type { Explanation, ExplainRequest, Match, Nobody, SourceSide, Story } from '../story.ts'
import { listPaused } from '../paused.ts'
import { historyOf, holdOf } from './history.ts'
import { judge, type Judged, type PlanFacts } from './judge.ts'
import { matchesOf, matchOf } from './matches.ts'
import { membersInQuestion } from './members.ts'
import { type Asked, askDirectory, askSource, type ExplainDeps } from './sides.ts'
import { type Faulty, isNotice } from '../../core/notice.ts'

/** A shared mailbox may have many users. */
const MOST_SHARING = 10

/** Changes nothing. */
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
  const judged = found === null ? undefined : await judgeEntry(deps, found, directory.entry, key)
  const planned = directory.error === null ? judged?.planned : undefined
  const difference = judged?.difference
  const sameMembers = judged?.sameMembers ?? null
  const { held, ...hold } = await holdOf(
    deps,
    { kind, id: id ?? '' },
    planned ?? difference,
    sameMembers !== null,
  )
  const holders =
    found === null || entries.length > 0 ? [] : await emailHolders(deps, found, directory.entry ?? match)
  const membership = judged?.membership ?? 'off'
  const completed = await lastOptions(deps.db, deps.target.sync)
  return {
    result: 'one',
    sync,
    who,
    kind,
    id,
    ...namesOf(match, directory.entry, entries[0] && matchOf(entries[0])),
    source: sourceSide(answer, [...(judged?.sameEmail ?? []).map(holderOf), ...holders]),
    directory,
    change: directory.error === null ? (held ?? difference ?? null) : null,
    notices: judged?.notices ?? [],
    waitingMemberships:
      key?.kind === 'user' && membership === 'write'
        ? await waitingMembershipsOf(deps.db, deps.target, key.id)
        : [],
    paused: (await listPaused(deps.db)).find((pause) => pause.sync === sync) ?? null,
    ...history,
    planned,
    isAbsenceKnown: judged?.isAbsenceKnown === true,
    membership,
    sameMembers,
    sharesEmails: deps.rules.emails === 'shared',
    configurationChange: changeSince(completed, deps.options),
    completedRun: completed?.run ?? null,
    ...hold,
  }
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

/** The entry's names in the source, the directory and earlier runs. */
function namesOf(
  known: Match,
  there: DirectoryUser | DirectoryGroup | null,
  wanted: Match | undefined,
): Pick<Story, 'name' | 'email'> {
  const email = there !== null && 'email' in there ? there.email : known.email
  return { name: wanted?.name ?? there?.name ?? known.name, email: wanted?.email ?? email }
}

interface JudgedEntry extends Judged, Pick<Story, 'membership' | 'sameMembers'> {
  readonly sameEmail: readonly UserEntry[]
}

const NOBODY: PlanFacts['deletedLastDay'] = { user: new Set(), group: new Set() }

async function judgeEntry(
  deps: ExplainDeps,
  found: Found,
  entry: DirectoryUser | DirectoryGroup | null,
  key: EntryKey = { kind: found.entries[0]?.kind ?? 'user', id: '' },
): Promise<JudgedEntry> {
  const { db, target, rules, grace } = deps
  const sameEmail = sharingEmail(found, key.id)
  const others = await Promise.all(
    sameEmail.slice(0, MOST_SHARING).map(({ id }) => askDirectory(deps, { kind: 'user', id })),
  )
  const isGroup = entry !== null && 'members' in entry
  const members = isGroup ? await membersInQuestion(deps, found, entry) : undefined
  const ids = [key, ...sameEmail].map(({ id }) => id).concat(members?.ids ?? [])
  const judged = judge({
    key,
    found,
    members,
    directory: [entry, ...others.map((other) => other.entry)].filter((each) => each !== null),
    rules,
    grace,
    memory: await recallReasons(db, target, ids),
    // Only a lagging server can make a deleted user reappear.
    deletedLastDay: found.server === undefined ? NOBODY : await deletedIdsLastDay(db, target, ids),
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
