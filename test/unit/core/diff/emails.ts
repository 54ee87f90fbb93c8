import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { DirectoryUser, UserEntry } from '../../../../src/core/entries/entry.ts'
import { canonicalEmail } from '../../../../src/core/entries/normalize.ts'
import type { PlannedChange } from '../../../../src/core/plan/changes.ts'
import { directoryOf, haveUser, type Plan, plainOf, planOf, refusing, sourceOf, wantUser } from './build.ts'

export const person = (id: string, email?: string) => ({ ...wantUser(id, `Name ${id}`), email })
export const shown = (id: string, email: string | null) => haveUser(id, `Name ${id}`, email)
export const X = 'x@example.org'
export const Y = 'y@example.org'
export const Z = 'z@example.org'

const ids = ['a', 'b', 'c', 'd', 'e', 'f']
const email = fc.constantFrom(X, ' X@Example.org', Y, Z, 'w@example.org', undefined)
const world = fc.record({
  users: fc.uniqueArray(fc.record({ id: fc.constantFrom(...ids), email }), { selector: ({ id }) => id }),
  have: fc.uniqueArray(fc.record({ id: fc.constantFrom(...ids), email }), { selector: ({ id }) => id }),
})

function sides({ users, have }: { users: { id: string; email: string | undefined }[]; have: typeof users }) {
  const wanted: UserEntry[] = users.map(({ id, email: mail }) => person(id, mail))
  const showing: DirectoryUser[] = have.map(({ id, email: mail }) => shown(id, mail ?? null))
  return { source: sourceOf(wanted), showing }
}

/** A service that, when `unique`, refuses an e-mail which another user has; refused changes are tried once more. */
function apply(plan: Plan, before: readonly DirectoryUser[], unique: boolean) {
  const users = new Map(before.map((user) => [user.id, user]))
  const write = (id: string, want: { email?: string; name?: string }): boolean => {
    const wanted = canonicalEmail(want.email ?? '')
    const isTaken = [...users.values()].some(
      (user) => user.id !== id && wanted !== '' && canonicalEmail(user.email ?? '') === wanted,
    )
    if (unique && isTaken) return false
    const user = users.get(id) ?? { id, name: null, email: null }
    users.set(id, { ...user, ...want })
    return true
  }
  const refusedOnce: PlannedChange[] = []
  const refused: PlannedChange[] = []
  for (const planned of plan.changes) {
    const { change } = planned
    if (change.op === 'delete-user') users.delete(change.id)
    if (change.op !== 'create-user' && change.op !== 'update-user') continue
    if (!write(change.id, change.want)) refusedOnce.push(planned)
  }
  for (const planned of refusedOnce) {
    const { change } = planned
    if ((change.op === 'create-user' || change.op === 'update-user') && !write(change.id, change.want))
      refused.push(planned)
  }
  return { after: [...users.values()], refused }
}

function count(users: readonly DirectoryUser[], mail: string): number {
  return users.filter((user) => canonicalEmail(user.email ?? '') === mail).length
}

export function testAnyEmails(numRuns: number): void {
  describe('whatever e-mails both sides have', () => {
    test('one plan settles it, nobody gets an e-mail that somebody else keeps, and nothing flips', () => {
      fc.assert(
        fc.property(world, (given) => {
          const { source, showing } = sides(given)
          const plan = planOf(source, directoryOf(showing))
          const { after } = apply(plan, showing, false)
          for (const user of after) {
            const mail = canonicalEmail(user.email ?? '')
            if (mail !== '') expect(count(after, mail)).toBeLessThanOrEqual(Math.max(1, count(showing, mail)))
          }
          expect([...planOf(source, directoryOf(after)).changes]).toEqual([])
        }),
        { numRuns },
      )
    })

    test('a service that allows each e-mail once is equal after some runs, or a circle is named that a person must open', () => {
      fc.assert(
        fc.property(world, (given) => {
          const { source, showing } = sides(given)
          fc.pre(
            new Set(showing.map((user) => canonicalEmail(user.email ?? user.id))).size === showing.length,
          )
          const quarantine: PlannedChange[] = []
          let have: readonly DirectoryUser[] = showing
          let helped = 0
          for (let run = 0; run < 20; run += 1) {
            const plan = planOf(source, directoryOf(have), refusing(quarantine))
            const { after, refused } = apply(plan, have, true)
            have = after
            for (const { change } of refused) expect(change).toHaveProperty('takes')
            quarantine.push(...refused)
            const rest = planOf(source, directoryOf(have), refusing(quarantine))
            const swap = rest.blocked.find(({ change }) => 'takes' in change)?.change
            if (rest.changes.length === 0 && swap !== undefined) {
              helped += 1
              have = have.map((user) =>
                user.id === swap.id ? { ...user, email: `by-hand-${helped}@example.org` } : user,
              )
            }
          }
          expect([...planOf(source, directoryOf(have)).changes]).toEqual([])
        }),
        { numRuns },
      )
    })

    test('the order of reading decides nothing', () => {
      fc.assert(
        fc.property(world, (given) => {
          const { source, showing } = sides(given)
          const turned = { users: given.users.toReversed(), have: given.have.toReversed() }
          const other = sides(turned)
          expect(plainOf(planOf(other.source, directoryOf(other.showing)))).toEqual(
            plainOf(planOf(source, directoryOf(showing))),
          )
        }),
      )
    })
  })
}
