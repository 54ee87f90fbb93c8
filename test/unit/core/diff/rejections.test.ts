import fc from 'fast-check'
import { expect, test } from 'vitest'
import { atOnce } from '../../../../src/base/steps.ts'
import { type Key, keyText, wholeOf } from '../../../../src/core/keys.ts'
import { afterRead } from '../../../../src/core/ledger.ts'
import type { Change } from '../../../../src/core/plan/change.ts'
import {
  directoryOf,
  haveGroup,
  haveUser,
  type Plan,
  planOf,
  rejecting,
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

const keysOf = ({ facts: { wanted } }: Plan): readonly Key[] => [
  ...IDS.flatMap((id) => [...wanted.keysOf('user', id)]),
  ...wanted.keysOf('group', 'g'),
]

/** The texts by which the ledger has their rejections. */
function wholes(keys: readonly Key[]): readonly string[] {
  return [...new Set(keys.map((key) => keyText(wholeOf(key))))].toSorted()
}

/** The rejections that are left after a complete run. */
function rejectionsAfter({ facts }: Plan): readonly string[] {
  return [...atOnce(afterRead(facts.decisions.ledger, facts, { run: 4, isComplete: true })).rejections.keys()]
}

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

const dids = ({ changes }: Plan): readonly string[] => [...changes].flatMap(({ change }) => deedsOf(change))

test('rejections stay as long as source and directory stay as they are, and nothing of it is done', () => {
  fc.assert(
    fc.property(side, there, (want, have) => {
      const sides = [inSource(want), inDirectory(have)] as const
      const keys = keysOf(planOf(...sides))
      const plan = planOf(...sides, rejecting(keys))
      expect(dids(plan)).toEqual([])
      expect(rejectionsAfter(plan).toSorted()).toEqual(wholes(keys))
    }),
  )
})

test('what was rejected is done by no other change, as long as the source wants it', () => {
  fc.assert(
    fc.property(side, side, there, (want, later, have) => {
      const directory = inDirectory(have)
      const rejected = keysOf(planOf(inSource(want), directory))
      const plan = planOf(inSource(later), directory, rejecting(rejected))
      const wanted = rejected.filter((key) => plan.facts.wanted.has(key))
      for (const key of wanted) expect(plan.facts.left.has(key)).toBe(false)
      expect(rejectionsAfter(plan)).toEqual(expect.arrayContaining([...wholes(wanted)]))
      const bare = dids(planOf(inSource(later), directory))
      // Without what was rejected, a change may be smaller, and never another one.
      for (const deed of dids(plan)) if (!deed.startsWith('create')) expect(bare).toContain(deed)
    }),
  )
})

const DIRECTORY = directoryOf([haveUser('a', 'Ana', 'x@example.org')])
const NAME: Key = ['user', 'a', 'name', 'Bo']
const EMAIL: Key = ['user', 'a', 'email', 'y@example.org']
const both = sourceOf([wantUser('a', 'Bo', 'y@example.org')])

test('of a name that was rejected and an e-mail only the e-mail is written', () => {
  const plan = planOf(both, DIRECTORY, rejecting([NAME]))
  expect([...plan.changes].map(({ change }) => change)).toMatchObject([
    { op: 'update-user', want: { email: 'y@example.org' } },
  ])
  expect(plan.blocked).toMatchObject([{ change: { want: { name: 'Bo' } }, codes: ['rejected'] }])
})

test('values that were rejected one after the other stay away together', () => {
  expect(dids(planOf(both, DIRECTORY, rejecting([NAME, EMAIL])))).toEqual([])
})
