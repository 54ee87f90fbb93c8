import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Change, fingerprint, partFingerprints } from '../../../../src/core/plan/change.ts'
import type { Withheld } from '../../../../src/core/plan/inputs.ts'
import { stillAsked } from '../../../../src/core/plan/still-asked.ts'
import {
  directoryOf,
  haveGroup,
  haveUser,
  linesOf,
  planOf,
  REJECTED,
  sourceOf,
  wantGroup,
  wantUser,
} from './build.ts'

const IDS = ['a', 'b', 'c'] as const
const user = fc.record({
  name: fc.constantFrom('Ana', 'Bo'),
  email: fc.constantFrom('x@example.org', 'y@example.org', 'z@example.org'),
})
const users = fc.dictionary(fc.constantFrom(...IDS), user, { maxKeys: 3, noNullPrototype: true })
const members = fc.subarray([...IDS])
const side = fc.record({ users, members, group: fc.constantFrom('Sales', 'Support') })
type Side = typeof side extends fc.Arbitrary<infer T> ? T : never

/** The directory gives an e-mail to nobody twice. */
const there = side.filter(({ users: all }) => {
  const emails = Object.values(all).map(({ email }) => email)
  return new Set(emails).size === emails.length
})

const inSource = ({ users: all, members: of, group }: Side) =>
  sourceOf(
    Object.entries(all).map(([id, { name, email }]) => wantUser(id, name, email)),
    [
      wantGroup(
        'g',
        group,
        of.filter((id) => id in all),
      ),
    ],
  )
const inDirectory = ({ users: all, members: of, group }: Side) =>
  directoryOf(
    Object.entries(all).map(([id, { name, email }]) => haveUser(id, name, email)),
    [
      haveGroup(
        'g',
        group,
        of.filter((id) => id in all),
      ),
    ],
  )

const changesOf = (plan: ReturnType<typeof planOf>): readonly Change[] =>
  [...plan.changes].map(({ change }) => change)

/** What one change does, as texts that another change may have too. */
function deedsOf(change: Change): readonly string[] {
  const { op, id } = change
  if (op === 'update-user')
    return Object.entries(change.want).map(([field, value]) => `${id} gets the ${field} ${value}`)
  if (op !== 'set-members') return [`${op} ${id} ${JSON.stringify('want' in change ? change.want : null)}`]
  const [before, after] = [new Set(change.have), new Set(change.want)]
  return [
    ...change.want.filter((member) => !before.has(member)).map((member) => `${member} comes into ${id}`),
    ...change.have.filter((member) => !after.has(member)).map((member) => `${member} leaves ${id}`),
  ]
}

test('what was rejected is asked for as long as both sides stay as they are', () => {
  fc.assert(
    fc.property(side, there, (want, have) => {
      const sides = { source: inSource(want), directory: inDirectory(have) }
      for (const change of changesOf(planOf(sides.source, sides.directory))) {
        const forms = [fingerprint(change), ...partFingerprints(change)]
        if (!('takes' in change)) expect(new Set(stillAsked(change, sides))).toEqual(new Set(forms))
      }
    }),
  )
})

test('what was rejected is done by no other change, as long as it is asked for', () => {
  fc.assert(
    fc.property(side, side, there, (want, later, have) => {
      const directory = inDirectory(have)
      const rejected = changesOf(planOf(inSource(want), directory)).filter(
        ({ op }) => op.includes('update') || op === 'set-members',
      )
      const sides = { source: inSource(later), directory }
      const kept = rejected.flatMap((change) => stillAsked(change, sides))
      const withheld = new Map(kept.map((print) => [print, REJECTED]))
      const done = new Set(changesOf(planOf(sides.source, directory, { withheld })).flatMap(deedsOf))
      const asked = new Set(changesOf(planOf(sides.source, directory)).flatMap(deedsOf))
      // Whoever is deleted leaves the groups.
      const isDeleted = (deed: string) => IDS.some((id) => deed === `${id} leaves g` && !(id in later.users))
      for (const deed of rejected.flatMap(deedsOf))
        if (asked.has(deed) && !isDeleted(deed)) expect(done).not.toContain(deed)
    }),
  )
})

const DIRECTORY = directoryOf([haveUser('a', 'Ana', 'x@example.org')])
const rejecting = (...changes: readonly Change[]) => {
  const prints = changes.flatMap((change) => [fingerprint(change), ...partFingerprints(change)])
  return { withheld: new Map<string, Withheld>(prints.map((print) => [print, REJECTED])) }
}
const renamed: Change = {
  op: 'update-user',
  id: 'a',
  have: { name: 'Ana', email: 'x@example.org' },
  want: { name: 'Bo' },
}

test('of a name that was rejected and an e-mail only the e-mail is written', () => {
  const plan = planOf(sourceOf([wantUser('a', 'Bo', 'y@example.org')]), DIRECTORY, rejecting(renamed))
  expect(changesOf(plan)).toMatchObject([{ op: 'update-user', want: { email: 'y@example.org' } }])
  expect(plan.notices.find(({ code }) => code === 'rejected')?.params).toMatchObject({
    op: 'update-user',
    name: 'Ana',
    email: 'x@example.org',
    field: 'name',
    rejections: [REJECTED.params],
  })
})

test('values that were rejected one after the other stay away together', () => {
  const moved: Change = { ...renamed, want: { email: 'y@example.org' } }
  const plan = planOf(sourceOf([wantUser('a', 'Bo', 'y@example.org')]), DIRECTORY, rejecting(renamed, moved))
  expect(linesOf(plan)).not.toContain('update-user a')
  expect(plan.withheld).toContain(fingerprint({ ...renamed, want: { name: 'Bo', email: 'y@example.org' } }))
})

test('what the service refused stays in quarantine whole, whatever part of it was rejected', () => {
  const both: Change = { ...renamed, want: { name: 'Bo', email: 'y@example.org' } }
  const { withheld } = rejecting(renamed)
  withheld.set(fingerprint(both), { code: 'quarantined', params: { answer: 'refused' } })
  const plan = planOf(sourceOf([wantUser('a', 'Bo', 'y@example.org')]), DIRECTORY, { withheld })
  expect(linesOf(plan)).not.toContain('update-user a')
  expect(plan.notices.map(({ code }) => code)).toContain('quarantined')
})
