import { expect, test } from 'vitest'
import { compileSelections, type EntryRules } from '../../../src/plan/selection.ts'
import { UserTable } from '../../../src/directory/user-table.ts'
import { SourceUsers } from '../../../src/directory/users.ts'
import { atOnce } from '../../../src/directory/steps.ts'
import type { DirectorySnapshot } from '../../../src/directory/snapshot.ts'
import type { Change } from '../../../src/plan/change.ts'
import type { Part } from '../../../src/plan/part/part.ts'
import { makePlan } from '../../../src/plan/plan.ts'
import { type LaterAttempt, UndoDraft } from '../../../src/plan/undo/undo-draft.ts'
import { directoryOf, haveGroup, haveUser } from './build.ts'

interface Options {
  readonly part?: Part
  readonly writesMembers?: boolean
  readonly entries?: EntryRules
  readonly found?: readonly Change[]
  readonly createdAgain?: readonly LaterAttempt[]
}

/** What the undo of these changes of run 12 would do, and what it says. */
function undoOf(changes: readonly Change[], directory: DirectorySnapshot, options: Options = {}) {
  const { part = {}, writesMembers = true, entries, found = [], createdAgain = [] } = options
  const draft = new UndoDraft({
    run: 12,
    part,
    directory,
    users: new SourceUsers(new UserTable()),
    writesMembers,
    selections: compileSelections(entries),
    createdAgain,
  })
  for (const change of changes) draft.add(change)
  for (const change of found) draft.addFound(change)
  const { source, sightings } = atOnce(draft.finish())
  const plan = makePlan({
    source,
    directory: { ...directory, notices: [] },
    sightings,
    rules: { policy: 'mirror', membership: 'write', allowedDomains: [] },
    withheld: new Map(),
    whyDeleted: 'undone',
  })
  return {
    does: Array.from(plan.changes, ({ change }) =>
      change.op === 'set-members'
        ? `set-members ${change.id}: ${change.want.join(' ')}`
        : `${change.op} ${change.id}`,
    ),
    says: plan.notices.map(({ code, id, detail }) => `${code} ${id}: ${detail}`),
    seen: [source.seen.user.size, source.seen.group.size],
  }
}

const NAMED = (id: string) => ({ name: `Name ${id}`, email: `${id}@example.org` })
const created = (id: string): Change => ({ op: 'create-user', id, want: NAMED(id) })
const deleted = (id: string, groups?: readonly string[]): Change => ({
  op: 'delete-user',
  id,
  have: { ...NAMED(id), ...(groups && { groups }) },
  why: 'gone',
})
const members = (id: string, have: readonly string[], want: readonly string[]): Change => ({
  op: 'set-members',
  id,
  name: `Group ${id}`,
  have,
  want,
})

test('a created user whom somebody else has put into a group is left alone', () => {
  const directory = directoryOf(
    [haveUser('a'), haveUser('b')],
    [haveGroup('g', 'Group g', ['a', 'b']), haveGroup('h', 'Group h', ['b'])],
  )
  const { does, says } = undoOf([created('a'), created('b'), members('g', [], ['a', 'b'])], directory)
  expect(does).toEqual(['delete-user a'])
  expect(says).toEqual([
    'changed-since b: is Name b <b@example.org> now, and run 12 did not make it a member of "Group h"',
  ])
})

test('a created group with members of somebody else is left alone, and an empty one is deleted', () => {
  const directory = directoryOf(
    [haveUser('a')],
    [haveGroup('g', 'Group g', ['a']), haveGroup('h', 'Group h'), haveGroup('i', 'Another name')],
  )
  const groups = ['g', 'h', 'i'].map((id): Change => ({
    op: 'create-group',
    id,
    want: { name: `Group ${id}` },
  }))
  const { does, says } = undoOf(groups, directory)
  expect(does).toEqual(['delete-group h'])
  expect(says).toEqual([
    'changed-since g: "Group g" has members since: "a"',
    'changed-since i: is called "Another name" now, and was created as "Group i"',
  ])
})

test('what the lists protect is not deleted', () => {
  const { does, says } = undoOf([created('a')], directoryOf([haveUser('a')]), {
    entries: { users: { protected: ['a'] } },
  })
  expect(does).toEqual([])
  expect(says).toEqual(['protected a: was created by the run, and is on the list protected: not deleted'])
})

test('somebody who is excluded since comes back, because the lists are about the source', () => {
  const { does } = undoOf([deleted('a', [])], directoryOf([]), { entries: { users: { exclude: ['a'] } } })
  expect(does).toEqual(['create-user a'])
})

test('a deleted user comes back into the groups that are still there, beside those who came since', () => {
  const directory = directoryOf([haveUser('b')], [haveGroup('g', 'Group g', ['b'])])
  const { does, says, seen } = undoOf([deleted('a', ['g', 'h'])], directory)
  expect(does).toEqual(['create-user a', 'set-members g: a b'])
  expect(says).toEqual(['not-restored h: is not in the directory any more, and gets no members back'])
  expect(seen).toEqual([2, 1])
})

test('somebody who is there again as before only gets the groups back', () => {
  const directory = directoryOf([haveUser('a')], [haveGroup('g', 'Group g')])
  expect(undoOf([deleted('a', ['g'])], directory).does).toEqual(['set-members g: a'])
})

test('what an older version did not keep, and what the sync does not write, is named', () => {
  const directory = directoryOf([], [haveGroup('g', 'Group g')])
  const { does, says } = undoOf([deleted('a'), deleted('b', ['g'])], directory, { writesMembers: false })
  expect(does).toEqual(['create-user a', 'create-user b'])
  expect(says).toEqual([
    'not-restored a: comes back without groups: the version that deleted it did not keep them',
    'not-restored b: was a member of "g": this sync writes no members (directory.membership)',
  ])
})

test('a value that was empty before stays, because the API cannot take one away', () => {
  const update: Change = {
    op: 'update-user',
    id: 'a',
    have: { email: null, name: 'Old' },
    want: { email: 'a@example.org', name: 'Name a' },
  }
  const { does, says } = undoOf([update], directoryOf([haveUser('a')]))
  expect(does).toEqual(['update-user a'])
  expect(says).toEqual(['not-restored a: had no e-mail, and no endpoint of the API takes one away'])
})

test('entries that share an id are left alone', () => {
  const notice = { kind: 'user', id: 'a', code: 'shared-id', detail: 'two' } as const
  const { does, says } = undoOf([created('a')], directoryOf([haveUser('a')], [], { notices: [notice] }))
  expect(does).toEqual([])
  expect(says).toEqual(['changed-since a: several entries of the directory have this id: left as they are'])
})

test('members are put back one by one', () => {
  const directory = directoryOf(
    ['a', 'b', 'c', 'd'].map((id) => haveUser(id)),
    [haveGroup('g', 'Group g', ['b', 'c', 'd', 'unlisted'])],
  )
  // The run took a out and put b in; c was there before; d and somebody whom the list does not show came since.
  const change = members('g', ['a', 'c'], ['b', 'c'])
  expect(undoOf([change], directory).does).toEqual(['set-members g: a c d unlisted'])
  expect(undoOf([change], directory, { part: { ids: ['a'] } }).does).toEqual([
    'set-members g: a b c d unlisted',
  ])
  expect(undoOf([change], directory, { part: { names: ['creates'] } }).does).toEqual([])
})

test('what was there before the run wrote it is left alone, and named', () => {
  const directory = directoryOf([haveUser('a'), haveUser('b')], [haveGroup('g', 'Group g', ['a'])])
  const found = [created('b'), members('g', [], ['a'])]
  const { does, says } = undoOf([created('a')], directory, { found })
  expect(does).toEqual([])
  expect(says).toEqual([
    expect.stringMatching(/^changed-since a: .* did not make it a member of "Group g"/),
    'not-restored b: was there before run 12 could do it, perhaps by somebody else: left as it is',
    'not-restored g: had been done before run 12 could do it, perhaps by somebody else: left as it is',
  ])
})

test('somebody who came back without the e-mail gets it when nobody has it any more', () => {
  const directory = directoryOf([haveUser('a', 'Name a', null)])
  expect(undoOf([deleted('a', [])], directory).does).toEqual(['update-user a'])
})

test('what a later run created again is left alone with its memberships, and is named once', () => {
  const directory = directoryOf(
    [haveUser('a'), haveUser('b'), haveUser('c')],
    [haveGroup('g', 'Group g', ['a', 'b', 'c']), haveGroup('h', 'Group h', ['b'])],
  )
  const changes = [
    created('a'),
    created('b'),
    { op: 'create-group', id: 'h', want: { name: 'Group h' } } as const,
    members('g', ['c'], ['a', 'b', 'c']),
    members('h', [], ['b']),
  ]
  const createdAgain = [
    { kind: 'user', id: 'a', run: 14, op: 'create-user' },
    { kind: 'group', id: 'h', run: 15, op: 'delete-group' },
    { kind: 'user', id: 'nobody', run: 14, op: 'create-user' },
  ] as const
  const ofA = 'changed-since a: run 14 created it again since: left as it is; dirsyncd undo 14 is about it'
  const ofH = 'changed-since h: is there again after run 15 deleted it: left as it is'
  const whole = undoOf(changes, directory, { createdAgain })
  expect(whole.does).toEqual([])
  expect(whole.says).toEqual([
    ofA,
    'changed-since b: is Name b <b@example.org> now, and run 12 did not make it a member of "Group h"',
    ofH,
  ])
  const part = undoOf(changes, directory, { createdAgain, part: { names: ['members'] } })
  expect(part.does).toEqual(['set-members g: a c'])
  expect(part.says).toEqual([ofA, ofH].toSorted())
})
