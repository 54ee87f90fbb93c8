import type { DirectoryUser, UserEntry } from '../entries/entry.ts'
import { canonicalEmail, sortedUnique } from '../entries/normalize.ts'
import { addAll, listAt } from '../../base/lists.ts'
import { byCodeUnit } from '../../base/order.ts'
import { forEachInSteps, type Steps } from '../../base/steps.ts'
import { sortInSteps } from '../entries/sorting.ts'
import type { Takes } from './change.ts'

export type Emails = 'unique' | 'shared'

/** Only users with a conflict have a ruling. */
export type EmailRuling =
  /** Another user has it and keeps it (`held`), or gets it: this user is written without it. */
  | {
      readonly may: 'not-write'
      readonly how: 'held' | 'smallest-id'
      readonly email: string
      readonly owner: string
    }
  /** Several users already have it in the directory, this one among them. */
  | { readonly may: 'share'; readonly how: 'shared'; readonly email: string; readonly owner: string }
  /** The user gets it, and no user keeps it; `takes.from` loses it in the same plan. */
  | { readonly may: 'take'; readonly takes: Takes }

export interface EmailInputs {
  /** The source's users whose e-mail this plan may write, or the directory already has. */
  readonly writableUsers: Iterable<UserEntry>
  /** At least the directory's users that may share an e-mail with one of them. */
  readonly holders: Iterable<DirectoryUser>
  readonly directory: ReadonlyMap<string, DirectoryUser>
  readonly deleted: ReadonlySet<string>
  /** Whether this user of the directory keeps its present e-mail, whatever the source wants. */
  readonly keepsEmail: (id: string) => boolean
  /** Users whose own change is withheld: their ruling stays, and their e-mail is not free. */
  readonly withheld: ReadonlySet<string>
}

export interface EmailRulings {
  of(id: string): EmailRuling | undefined
  readonly ruled: Iterable<string>
  /** Users who change to another e-mail and so free one that another user gets. */
  readonly movers: ReadonlySet<string>
}

export const NO_RULINGS: EmailRulings = { of: () => undefined, ruled: [], movers: new Set() }

/** One e-mail that more than one user has or wants. Ids are sorted by code unit. */
interface EmailConflict {
  readonly email: string
  readonly wantedBy: ReadonlySet<string>
  readonly heldBy: ReadonlySet<string>
}

/**
 * Resolves e-mail conflicts, in this order:
 * 1. a user who has it in the directory and keeps it, so that it does not change hands with every run;
 * 2. otherwise the user with the smallest id (code-unit order).
 *
 * All others are written without the e-mail. A user who does not get the wanted e-mail keeps the present one, so a user
 * who waits for that one does not get it either, and so on along the chain. The order of reading does not matter.
 */
export function* ruleEmails(inputs: EmailInputs): Steps<EmailRulings> {
  const conflicts = yield* findConflicts(inputs)
  const rulings = new Map<string, EmailRuling>()
  /** For e-mails that no user keeps. */
  const winners = new Map<string, EmailConflict>()
  const losers: string[] = []
  const deny: Deny = (id, denied) => {
    rulings.set(id, { may: 'not-write', ...denied })
    losers.push(id)
  }
  yield* forEachInSteps(conflicts, (conflict) => {
    const { email, wantedBy, heldBy } = conflict
    const keeping = [...heldBy].filter((id) => wantedBy.has(id) || inputs.keepsEmail(id))
    const owner = keeping[0] ?? firstOf(wantedBy)
    if (owner === undefined) return
    if (keeping.length === 0) winners.set(owner, conflict)
    for (const id of wantedBy) {
      if (!heldBy.has(id)) {
        if (id !== owner) deny(id, { email, owner, how: keeping.length > 0 ? 'held' : 'smallest-id' })
      } else if (keeping.length > 1) {
        const other = keeping.find((each) => each !== id) ?? owner
        rulings.set(id, { may: 'share', how: 'shared', email, owner: other })
      }
    }
  })
  const order = yield* movingOrder(winners)
  addAll(losers, inputs.withheld)
  yield* denyBehind(losers, winners, inputs.withheld, deny)
  yield* forEachInSteps(winners, ([id, { heldBy }]) => {
    const from = firstOf(heldBy)
    if (from !== undefined) rulings.set(id, { may: 'take', takes: { from, after: order.get(id) ?? null } })
  })
  return {
    of: (id) => rulings.get(id),
    ruled: [...rulings.keys()],
    movers: yield* findMovers(conflicts, inputs, rulings),
  }
}

type Deny = (id: string, denied: Omit<Extract<EmailRuling, { readonly may: 'not-write' }>, 'may'>) => void

/** Denies the e-mail to every winner who waits for a loser's present e-mail, along the whole chain. */
function* denyBehind(
  losers: readonly string[],
  winners: Map<string, EmailConflict>,
  withheld: ReadonlySet<string>,
  deny: Deny,
): Steps<void> {
  const behind = new Map<string, string[]>()
  yield* forEachInSteps(winners, ([winner, { heldBy }]) => {
    for (const holder of heldBy) listAt(behind, holder).push(winner)
  })
  // `deny` appends to `losers` during the loop.
  return yield* forEachInSteps(losers, (loser) => {
    for (const winner of behind.get(loser) ?? []) {
      const conflict = winners.get(winner)
      if (conflict === undefined || withheld.has(winner)) continue
      winners.delete(winner)
      deny(winner, { email: conflict.email, owner: loser, how: 'held' })
    }
  })
}

/** How many changes must come before each winner's; no number for winners in a circle or behind one. */
function* movingOrder(winners: ReadonlyMap<string, EmailConflict>): Steps<ReadonlyMap<string, number>> {
  const order = new Map<string, number>()
  const behind = new Map<string, string[]>()
  const open = new Map<string, number>()
  const ready: string[] = []
  yield* forEachInSteps(winners, ([winner, { heldBy }]) => {
    const blockers = [...heldBy].filter((id) => (winners.get(id)?.heldBy.size ?? 0) > 0)
    for (const blocker of blockers) listAt(behind, blocker).push(winner)
    open.set(winner, blockers.length)
    if (blockers.length > 0) return
    order.set(winner, heldBy.size === 0 ? 0 : 1)
    ready.push(winner)
  })
  // `ready` grows during the loop.
  yield* forEachInSteps(ready, (id) => {
    for (const next of behind.get(id) ?? []) {
      order.set(next, Math.max(order.get(next) ?? 0, (order.get(id) ?? 0) + 1))
      const left = (open.get(next) ?? 0) - 1
      open.set(next, left)
      if (left === 0) ready.push(next)
    }
  })
  yield* forEachInSteps(open, ([id, left]) => left > 0 && order.delete(id))
  return order
}

function* findMovers(
  conflicts: readonly EmailConflict[],
  { keepsEmail, deleted }: EmailInputs,
  rulings: ReadonlyMap<string, EmailRuling>,
): Steps<ReadonlySet<string>> {
  const movers = new Set<string>()
  yield* forEachInSteps(conflicts, ({ wantedBy, heldBy }) => {
    for (const id of heldBy) {
      const isKept =
        wantedBy.has(id) || rulings.get(id)?.may === 'not-write' || deleted.has(id) || keepsEmail(id)
      if (!isKept) movers.add(id)
    }
  })
  return movers
}

function* findConflicts({ writableUsers, holders, directory }: EmailInputs): Steps<EmailConflict[]> {
  const wanted = new Map<string, string | string[]>()
  yield* forEachInSteps(writableUsers, ({ id, email }) => {
    if (email === undefined) return
    const canonical = canonicalEmail(email)
    const before = wanted.get(canonical)
    // Most e-mails have one user, so a single id needs no array.
    if (before === undefined) wanted.set(canonical, id)
    else if (typeof before === 'string') wanted.set(canonical, [before, id])
    else before.push(id)
  })
  const held = new Map<string, string[]>()
  yield* forEachInSteps(holders, ({ id, email }) => {
    const canonical = canonicalEmail(email ?? '')
    const wants = canonical === '' ? undefined : wanted.get(canonical)
    if (wants !== undefined && wants !== id) listAt(held, canonical).push(id)
  })
  const conflicts: EmailConflict[] = []
  yield* forEachInSteps(wanted, ([email, ids]) => {
    const others = held.get(email)
    if (typeof ids === 'string' && others === undefined) return
    const all = typeof ids === 'string' ? [ids] : ids
    const heldBy = all.filter((id) => canonicalEmail(directory.get(id)?.email ?? '') === email)
    conflicts.push({ email, wantedBy: sortedSet(all), heldBy: sortedSet([...(others ?? []), ...heldBy]) })
  })
  const order = yield* sortInSteps(conflicts.length, (a, b) =>
    byCodeUnit(conflicts[a]!.email, conflicts[b]!.email),
  )
  return Array.from(order, (place) => conflicts[place]!)
}

function sortedSet(ids: Iterable<string>): ReadonlySet<string> {
  return new Set(sortedUnique(ids))
}

function firstOf(ids: ReadonlySet<string>): string | undefined {
  const [first] = ids
  return first
}
