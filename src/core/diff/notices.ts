import {
  everyInSteps,
  filterInSteps,
  forEachInSteps,
  forEachOfSizeInSteps,
  type Steps,
} from '../../base/steps.ts'
import { addressFault, canonicalEmail } from '../entries/normalize.ts'
import type { DirectoryUser, Kind, MemberDifference, UserEntry } from '../entries/entry.ts'
import { sortInSteps } from '../../base/sorting.ts'
import { differingUsers } from '../entries/users.ts'
import { forEachKey } from '../keys.ts'
import { compareNotices, type Notice } from '../notice.ts'
import type { Changes } from '../order.ts'
import { idsOfOtherForm, isMovedId } from '../plan/id-form.ts'
import type { Left } from '../without.ts'
import type { ScopeIds } from '../within.ts'
import type { Facts } from '../checks/check.ts'
import { mayHaveEmail } from './rules.ts'

type NoticeOfEntry = Notice & { readonly id: string }

/**
 * What a report says of single entries besides their changes and blocks.
 *
 * @param scope the entries that the run is limited to
 */
export function* noticesOf(
  { left, isStopped }: Pick<Facts, 'left' | 'isStopped'>,
  changes: Changes,
  scope?: ScopeIds,
): Steps<readonly Notice[]> {
  const all = yield* allNotices(left, changes, isStopped)
  const isAbout = ({ kind, id }: Notice): boolean =>
    scope === undefined || id === undefined || scope[kind].has(id)
  const notices = yield* filterInSteps(all, isAbout)
  if (scope !== undefined) for (const notice of yield* unknownIds(left, scope)) notices.push(notice)
  const order = yield* sortInSteps(notices.length, (a, b) => compareNotices(notices[a]!, notices[b]!))
  return Array.from(order, (place) => notices[place]!)
}

function* allNotices(left: Left, changes: Changes, isStopped: boolean): Steps<readonly Notice[]> {
  const { source, directory } = left.wanted.snapshots
  const notices: Notice[] = [...directory.notices]
  yield* forEachInSteps(source.notices, (notice) => notices.push(...withoutLeavers(notice, left)))
  const of = new NoticesOfUser(left, changes, isStopped)
  const add = (want: UserEntry): void => {
    for (const notice of of.user(want)) notices.push(notice)
  }
  const isAll = left.wanted.selections.user.isAll
  const users = isAll ? differingUsers(left.wanted.snapshots) : source.users.values()
  const seen = new Set<string>()
  yield* forEachInSteps(users, (want) => {
    if (left.wanted.emails.size > 0) seen.add(want.id)
    add(want)
  })
  // Equal users may share an e-mail.
  yield* forEachInSteps(left.wanted.emails.values(), ({ holders }) => {
    for (const id of holders) {
      const want = seen.has(id) ? undefined : source.users.get(id)
      if (want !== undefined) add(want)
    }
  })
  for (const notice of yield* excludedEntries(left)) notices.push(notice)
  for (const notice of yield* differingMembers(left)) notices.push(notice)
  const ids = { user: [] as string[], group: [] as string[] }
  for (const kind of ['user', 'group'] as const) {
    yield* forEachKey(
      left.of(kind, 'delete'),
      ([, id]) => changes.transfers.newIds.get(id) ?? ids[kind].push(id),
    )
    const entries = kind === 'user' ? source.users : source.groups
    // Where most of them come back under a new id, the form of all ids has changed.
    if (kind === 'group' || ids.user.length * 2 > left.wanted.absent.user.size)
      for (const notice of yield* idsOfOtherForm(kind, ids[kind], entries.values())) notices.push(notice)
  }
  return notices
}

/** An absent user is no unknown member. Where the notice names only some members, the directory tells how many are absent. */
function withoutLeavers(notice: Notice, { wanted: { absent, snapshots } }: Left): readonly Notice[] {
  const isAbsent = (id: string): boolean => absent.user.has(id)
  if (notice.code !== 'unknown-members' || !notice.params.examples.some(isAbsent)) return [notice]
  const { params, id = '' } = notice
  const examples = params.examples.filter((each) => !isAbsent(each))
  const members = snapshots.directory.groups.get(id)?.members ?? []
  const others = params.total === params.examples.length ? 0 : params.total - members.filter(isAbsent).length
  const total = Math.max(examples.length, others)
  return total === 0 ? [] : [{ ...notice, params: { ...params, examples, total } }]
}

function* excludedEntries({ wanted }: Left): Steps<readonly Notice[]> {
  const { source, directory } = wanted.snapshots
  const notices: Notice[] = []
  for (const kind of ['user', 'group'] as const) {
    const selection = wanted.selections[kind]
    if (selection.isAll) continue
    const [wantedEntries, there] =
      kind === 'user' ? [source.users, directory.users] : [source.groups, directory.groups]
    const add = (id: string, from: string | undefined): void => {
      const list = selection.excludedBy(id, from)
      if (list !== undefined)
        notices.push({ kind, id, code: 'excluded', params: { list, from: from ?? null } })
    }
    yield* forEachInSteps<{ readonly id: string; readonly from: string }>(
      wantedEntries.values(),
      ({ id, from }) => add(id, from),
    )
    if (kind === 'group' && !source.covers.groups) continue
    yield* forEachInSteps(there.keys(), (id) => !source.seen[kind].has(id) && add(id, undefined))
  }
  return notices
}

function sizeOf([, { added, removed }]: readonly [string, MemberDifference]): number {
  return added.length + removed.length
}

/** With `membership: report`: what a sync that writes members would do, but for users that it deletes. */
function* differingMembers(left: Left): Steps<readonly Notice[]> {
  const { snapshots, absent, rules, reported } = left.wanted
  const { source, directory } = snapshots
  const mayRemove = rules.policy === 'mirror' && source.unreadable === 0
  const isThere = (kind: Kind, id: string) => left.wanted.isThere(kind, id) || left.has([kind, id, 'create'])
  const notices: Notice[] = []
  yield* forEachOfSizeInSteps(reported, sizeOf, function* ([id, { added, removed }]) {
    const have = directory.groups.get(id)
    if (!isThere('group', id) || (have !== undefined && rules.policy === 'create-only')) return
    const joins = yield* filterInSteps(added, (member) => isThere('user', member))
    const leaves = mayRemove ? yield* filterInSteps(removed, (member) => !absent.user.has(member)) : []
    if (joins.length + leaves.length === 0) return
    const group = source.groups.get(id)?.name ?? have?.name ?? ''
    const params = { group, added: joins.length, removed: leaves.length }
    notices.push({ kind: 'group', id, code: 'membership-differs', params })
  })
  return notices
}

/** The ids of a limited run that neither source nor directory has: one of them may be mistyped. */
function* unknownIds({ wanted }: Left, scope: ScopeIds): Steps<readonly Notice[]> {
  const { seen } = wanted.snapshots.source
  const { users, groups } = wanted.snapshots.directory
  const isKnown = (kind: Kind, id: string) => wanted.isThere(kind, id) || seen[kind].has(id)
  const notices: Notice[] = []
  for (const [kind, other, there] of [
    ['user', 'group', users],
    ['group', 'user', groups],
  ] as const)
    for (const id of scope[kind]) {
      if (isKnown(kind, id)) continue
      const similar = (yield* otherwiseSpelled(id, seen[kind])) ?? (yield* otherwiseSpelled(id, there.keys()))
      const params = { similar: similar ?? null, isOtherKind: isKnown(other, id) }
      notices.push({ kind, id, code: 'unknown-id', params })
    }
  return notices
}

/** An id that differs only in case, or in the braces that some tools write around a GUID. */
function* otherwiseSpelled(id: string, ids: Iterable<string>): Steps<string | undefined> {
  const wanted = plainSpelling(id)
  let found: string | undefined
  yield* everyInSteps(ids, (each) => {
    if (plainSpelling(each) === wanted) found = each
    return found === undefined
  })
  return found
}

function plainSpelling(id: string): string {
  return id.replace(/^\{(.*)\}$/, '$1').toLowerCase()
}

class NoticesOfUser {
  readonly #left: Left
  readonly #changes: Changes
  readonly #isStopped: boolean

  constructor(left: Left, changes: Changes, isStopped: boolean) {
    this.#left = left
    this.#changes = changes
    this.#isStopped = isStopped
  }

  *user(want: UserEntry): Generator<NoticeOfEntry, void> {
    const { wanted } = this.#left
    if (wanted.isExcluded('user', want.id)) return
    const have = wanted.snapshots.directory.users.get(want.id)
    const isBad = want.email !== undefined && !mayHaveEmail(want.email, have, wanted.rules)
    if (isBad) yield this.#bad(want, have)
    if (isBad && wanted.rules.dropBadEmails !== true) return
    const conflict = isBad ? undefined : this.#conflict(want, have)
    if (conflict !== undefined) yield conflict
    yield* this.#missing(want, have)
    yield* this.#moved(want)
  }

  #bad({ id, from, email = '' }: UserEntry, have: DirectoryUser | undefined): NoticeOfEntry {
    const { allowedDomains, dropBadEmails } = this.#left.wanted.rules
    const fault = { from, email, why: addressFault(email, allowedDomains) ?? 'other-domain' }
    if (dropBadEmails !== true) return { kind: 'user', id, code: 'email-not-allowed', params: fault }
    return { kind: 'user', id, code: 'email-dropped', params: { ...fault, isKept: Boolean(have?.email) } }
  }

  #conflict({ id, from, email = '' }: UserEntry, have: DirectoryUser | undefined): NoticeOfEntry | undefined {
    const { wanted } = this.#left
    const conflict = wanted.emails.get(canonicalEmail(email))
    if (conflict === undefined) return undefined
    const { owner = id, keeping } = conflict
    const notice = (other: string, how: 'held' | 'smallest-id' | 'shared'): NoticeOfEntry => ({
      kind: 'user',
      id,
      code: 'duplicate-email',
      params: { from, email: canonicalEmail(email), owner: other, how, undo: null },
    })
    if (keeping.includes(id)) {
      const other = keeping.find((each) => each !== id)
      return other === undefined ? undefined : notice(other, 'shared')
    }
    if (owner !== id) return notice(owner, keeping.length > 0 ? 'held' : 'smallest-id')
    const key = wanted.keyOfValue('user', id, 'email')
    if (key === undefined) return undefined
    if (this.#left.isBlocked(key)) return undefined
    if (!this.#left.has(key)) {
      const unmet = wanted.needsOf(key).find((need) => need[1] !== id && !this.#left.has(need))
      // In a stopped plan, the user waits for the decision about what frees the e-mail.
      const isWaiting = unmet === undefined || (this.#isStopped && wanted.has(unmet))
      return isWaiting ? undefined : notice(unmet[1], 'held')
    }
    const takes = this.#changes.transfers.takesOf(id)
    if (takes === undefined || takes.after !== null || have === undefined) return undefined
    return { kind: 'user', id, code: 'email-swap', params: { email, owner: takes.from, isUndo: false } }
  }

  *#missing(want: UserEntry, have: DirectoryUser | undefined): Generator<NoticeOfEntry, void> {
    const { id, from } = want
    if (have === undefined) {
      if (want.email === undefined) yield { kind: 'user', id, code: 'no-email', params: { from } }
      return
    }
    const fields = (['email', 'name'] as const).filter((field) => want[field] === undefined && have[field])
    if (fields.length > 0) yield { kind: 'user', id, code: 'value-kept', params: { from, fields } }
  }

  *#moved({ id, from }: UserEntry): Generator<NoticeOfEntry, void> {
    const { wanted } = this.#left
    if (!wanted.isThere('user', id)) {
      const oldId = this.#changes.transfers.oldIds.get(id)
      if (oldId === undefined || !this.#left.has(['user', id, 'create'])) return
      const email = wanted.wantedUser(id)?.email ?? ''
      yield { kind: 'user', id, code: 'new-id', params: { oldId, email } }
      return
    }
    const change = this.#changes.updateUser(id)
    if (change === undefined || !isMovedId(change)) return
    const after = { name: change.want.name ?? null, email: change.want.email ?? null }
    yield { kind: 'user', id, code: 'id-moved', params: { from, before: change.have, after, undone: null } }
  }
}
