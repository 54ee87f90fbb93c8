import type { UserEntry } from '../directory/entry.ts'
import { isSameEmail } from '../directory/normalize.ts'
import type { Steps } from '../directory/steps.ts'
import { sharingEmail } from '../directory/users.ts'
import { type Change, fingerprint } from './change.ts'
import { diffUser, mayHaveEmail, wishOf } from './diff.ts'
import { type EmailRulings, NO_RULINGS, ruleEmails } from './emails.ts'
import { type PlanInputs, withheldBy } from './inputs.ts'
import { mayUpdate } from './policy.ts'
import type { Selection } from './selection.ts'
import { withoutRejected } from './without-rejected.ts'

/** Decides who gets which e-mail, considering the lists, policy, allowed domains and withheld changes. */
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
    const rulings = ruleEmails({
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
    // A user whose change is withheld keeps the e-mail, so nobody else may get it: rule again.
    const more = withheld.size === 0 ? [] : [...rulings.movers].filter(isHeld)
    if (more.length === 0) return rulings
    for (const id of foremost(more, rulings)) held.add(id)
  }
}

/** Where a person rejected one value of an update alone, the other one may be written. */
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

/**
 * The users who wait for none of the others. The change of a user who waits for a held one loses its e-mail and gets
 * another fingerprint, so it must be checked again.
 */
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
    if (want.email === undefined || selection.whyExcluded(want.id, want.from) !== undefined) continue
    const have = directory.users.get(want.id)
    if (!mayHaveEmail(want.email, have, rules)) continue
    if (have === undefined || mayUpdateNow(inputs) || isSameEmail(have.email, want.email)) yield want
  }
}

/** Whether this plan may give the directory's user another e-mail. */
function canMove(id: string, inputs: PlanInputs, selection: Selection): boolean {
  const { source, rules, only, directory } = inputs
  const want = source.users.get(id)
  if (want?.email === undefined || !mayUpdateNow(inputs)) return false
  if (only !== undefined && !only.users.includes(id)) return false
  if (selection.whyExcluded(id, want.from) !== undefined) return false
  return mayHaveEmail(want.email, directory.users.get(id), rules)
}
