import type { UserEntry } from '../entries/entry.ts'
import { isSameEmail } from '../entries/normalize.ts'
import { filterInSteps, type Steps } from '../../base/steps.ts'
import { sharingEmail } from '../entries/users.ts'
import { type Change, fingerprint } from './change.ts'
import { diffUser, mayHaveEmail, wishOf } from './diff.ts'
import { type EmailRulings, NO_RULINGS, ruleEmails } from './emails.ts'
import { type PlanInputs, withheldBy } from './inputs.ts'
import { mayUpdate } from './policy.ts'
import type { Selection } from './selection.ts'
import { withoutRejected } from './without-rejected.ts'

/** Resolves e-mail conflicts, considering the lists, policy, allowed domains and withheld changes. */
export function* ruleUserEmails(
  inputs: PlanInputs,
  selection: Selection,
  deleted: ReadonlySet<string>,
): Steps<EmailRulings> {
  const { source, directory, rules, withheld, refused } = inputs
  if (rules.emails === 'shared') return NO_RULINGS
  const held = new Set<string>()
  const sharing = yield* sharingEmail({ source: source.users, directory: directory.users })
  const keepsEmail = (id: string): boolean =>
    refused?.has(id) === true || (!deleted.has(id) && !canMove(id, inputs, selection))
  for (;;) {
    const rulings = yield* ruleEmails({
      writableUsers: usersWithWritableEmail(sharing.source, inputs, selection),
      holders: sharing.directory,
      directory: directory.users,
      deleted,
      keepsEmail,
      withheld: held,
    })
    const isHeld = (id: string): boolean => {
      const want = source.users.get(id)
      if (want === undefined || held.has(id)) return false
      const have = directory.users.get(id)
      const { change } = diffUser(want, have, rules, rulings.of(id))
      if (change === undefined) return false
      return isEmailWithheld(change, wishOf(want, have, rules), withheld)
    }
    // A user whose change is withheld keeps the e-mail, so no other user may get it: rule again.
    const more = withheld.size === 0 ? [] : yield* filterInSteps([...rulings.movers], isHeld)
    if (more.length === 0) return rulings
    for (const id of foremost(more, rulings)) held.add(id)
  }
}

/** Where one value of an update was rejected alone, the other one may be written. */
function isEmailWithheld(
  change: Change,
  wish: string | undefined,
  withheld: PlanInputs['withheld'],
): boolean {
  const own = withheld.get(fingerprint(change))
  if (own === undefined || own.code === 'rejected') {
    const parted = withoutRejected(change, (print) => withheld.get(print)?.code === 'rejected')
    if (parted !== undefined) return !writesEmail(parted.change)
  }
  return withheldBy(withheld, fingerprint(change), wish) !== undefined
}

function writesEmail(change: Change | undefined): boolean {
  return change?.op === 'update-user' && change.want.email !== undefined
}

/** Users who wait for no other. Changes behind a held one get another fingerprint, so they are checked again. */
function foremost(ids: readonly string[], rulings: EmailRulings): readonly string[] {
  const all = new Set(ids)
  const first = ids.filter((id) => {
    const ruling = rulings.of(id)
    return ruling?.may !== 'take' || !all.has(ruling.takes.from)
  })
  return first.length > 0 ? first : ids
}

function mayUpdateNow({ rules, waits }: PlanInputs): boolean {
  return mayUpdate(rules.policy) && waits?.allButNew === undefined
}

function* usersWithWritableEmail(
  users: Iterable<UserEntry>,
  inputs: PlanInputs,
  selection: Selection,
): Generator<UserEntry> {
  const { directory, rules } = inputs
  for (const want of users) {
    if (want.email === undefined || selection.excludedBy(want.id, want.from) !== undefined) continue
    const have = directory.users.get(want.id)
    if (!mayHaveEmail(want.email, have, rules)) continue
    if (have === undefined || mayUpdateNow(inputs) || isSameEmail(have.email, want.email)) yield want
  }
}

function canMove(id: string, inputs: PlanInputs, selection: Selection): boolean {
  const { source, rules, only, directory } = inputs
  const want = source.users.get(id)
  if (want?.email === undefined || !mayUpdateNow(inputs)) return false
  if (only !== undefined && !only.users.includes(id)) return false
  if (selection.excludedBy(id, want.from) !== undefined) return false
  return mayHaveEmail(want.email, directory.users.get(id), rules)
}
