import { expect, test } from 'vitest'
import { compileSelections, type EntryRules } from '../../../../src/core/plan/selection.ts'
import { type ChangedSince, examplesOf, type Notice, type NotRestored } from '../../../../src/core/notice.ts'
import { UserTable } from '../../../../src/core/entries/user-table.ts'
import { SourceUsers } from '../../../../src/core/entries/users.ts'
import { atOnce } from '../../../../src/base/steps.ts'
import type { DirectorySnapshot } from '../../../../src/core/entries/snapshot.ts'
import type { Change } from '../../../../src/core/plan/change.ts'
import type { Part } from '../../../../src/core/plan/part/part.ts'
import { EmailAdvice } from '../../../../src/core/plan/undo/email-advice.ts'
import { type LaterAttempt, LaterAttempts } from '../../../../src/core/plan/undo/later-attempts.ts'
import { UndoDraft } from '../../../../src/core/plan/undo/undo-draft.ts'
import { directoryOf, haveGroup, haveUser, planInSteps, wantUser } from '../diff/build.ts'

interface Options {
  readonly part?: Part
  readonly writesMembers?: boolean
  readonly entries?: EntryRules
  readonly found?: readonly Change[]
  /** Of later runs. */
  readonly attempts?: readonly LaterAttempt[]
}

/** What the undo of these changes of run 12 would do, and what it says. */
function undoOf(changes: readonly Change[], directory: DirectorySnapshot, options: Options = {}) {
  const { part = {}, writesMembers = true, entries, found = [], attempts = [] } = options
  const draft = new UndoDraft({
    run: 12,
    part,
    directory,
    users: new SourceUsers(new UserTable()),
    writesMembers,
    selections: compileSelections(entries),
    later: new LaterAttempts(12, attempts),
  })
  for (const change of changes) draft.add(change)
  for (const change of found) draft.addFound(change)
  const { source, sightings } = atOnce(draft.finish())
  const snapshots = { source, directory: { ...directory, notices: [] } }
  const plan = atOnce(planInSteps(snapshots, { sightings, anomalies: [] }))
  return {
    does: Array.from(plan.changes, ({ change }) =>
      change.op === 'set-members'
        ? `set-members ${change.id}: ${change.want.join(' ')}`
        : `${change.op} ${change.id}`,
    ),
    says: plan.notices.map(({ code, id, params }) => ({ code, id, params })),
    seen: [source.seen.user.size, source.seen.group.size],
  }
}

const NAMED = (id: string) => ({ name: `Name ${id}`, email: `${id}@example.org` })
const created = (id: string): Change => ({ op: 'create-user', id, want: NAMED(id) })
const deleted = (id: string, groups: readonly string[]): Change => ({
  op: 'delete-user',
  id,
  have: { ...NAMED(id), groups },
  why: 'gone',
})
const members = (id: string, have: readonly string[], want: readonly string[]): Change => ({
  op: 'set-members',
  id,
  name: `Group ${id}`,
  have,
  want,
})

function changedSince(id: string, params: ChangedSince) {
  return { code: 'changed-since', id, params: { run: 12, ...params } }
}

function notRestored(id: string, params: NotRestored) {
  return { code: 'not-restored', id, params: { run: 12, ...params } }
}

test('a created user whom somebody else has put into a group is left alone', () => {
  const directory = directoryOf(
    [haveUser('a'), haveUser('b')],
    [haveGroup('g', 'Group g', ['a', 'b']), haveGroup('h', 'Group h', ['b'])],
  )
  const { does, says } = undoOf([created('a'), created('b'), members('g', [], ['a', 'b'])], directory)
  expect(does).toEqual(['delete-user a'])
  expect(says).toEqual([changedSince('b', { how: 'joined', now: NAMED('b'), group: 'Group h' })])
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
    changedSince('g', { how: 'has-members', name: 'Group g', ...examplesOf(['a']) }),
    changedSince('i', { how: 'name', now: 'Another name', did: 'created', name: 'Group i' }),
  ])
})

test('what the lists protect is not deleted', () => {
  const { does, says } = undoOf([created('a')], directoryOf([haveUser('a')]), {
    entries: { users: { protected: ['a'] } },
  })
  expect(does).toEqual([])
  expect(says).toEqual([{ code: 'protected', id: 'a', params: {} }])
})

test('somebody who is excluded since comes back, because the lists are about the source', () => {
  const { does } = undoOf([deleted('a', [])], directoryOf([]), { entries: { users: { exclude: ['a'] } } })
  expect(does).toEqual(['create-user a'])
})

test('a deleted user comes back into the groups that are still there, beside those who came since', () => {
  const directory = directoryOf([haveUser('b')], [haveGroup('g', 'Group g', ['b'])])
  const { does, says, seen } = undoOf([deleted('a', ['g', 'h'])], directory)
  expect(does).toEqual(['create-user a', 'set-members g: a b'])
  expect(says).toEqual([notRestored('h', { how: 'group-missing' })])
  expect(seen).toEqual([2, 1])
})

test('somebody who is there again as before only gets the groups back', () => {
  const directory = directoryOf([haveUser('a')], [haveGroup('g', 'Group g')])
  expect(undoOf([deleted('a', ['g'])], directory).does).toEqual(['set-members g: a'])
})

test('memberships that the sync does not write are named', () => {
  const directory = directoryOf([], [haveGroup('g', 'Group g')])
  const { does, says } = undoOf([deleted('b', ['g'])], directory, { writesMembers: false })
  expect(does).toEqual(['create-user b'])
  expect(says).toEqual([notRestored('b', { how: 'memberships', ...examplesOf(['g']) })])
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
  expect(says).toEqual([notRestored('a', { how: 'field-empty', field: 'email' })])
})

test('entries that share an id are left alone', () => {
  const notice = { kind: 'user', id: 'a', code: 'shared-id', params: { ownIds: [] } } as const
  const { does, says } = undoOf([created('a')], directoryOf([haveUser('a')], [], { notices: [notice] }))
  expect(does).toEqual([])
  expect(says).toEqual([changedSince('a', { how: 'shared-id' })])
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

test('whoever is not in the directory gets no membership back, and is named', () => {
  const directory = directoryOf([haveUser('a'), haveUser('c')], [haveGroup('g', 'Group g', ['c'])])
  expect(
    undoOf([deleted('a', ['g']), deleted('b', ['g'])], directory, { part: { ids: ['g'] } }),
  ).toMatchObject({
    does: ['set-members g: a c'],
    says: [notRestored('g', { how: 'members-missing', name: 'Group g', ...examplesOf(['b']) })],
  })
})

test('what was there before the run wrote it is left alone, and named', () => {
  const directory = directoryOf([haveUser('a'), haveUser('b')], [haveGroup('g', 'Group g', ['a'])])
  const found = [created('b'), members('g', [], ['a'])]
  const { does, says } = undoOf([created('a')], directory, { found })
  expect(does).toEqual([])
  expect(says).toEqual([
    changedSince('a', { how: 'joined', now: NAMED('a'), group: 'Group g' }),
    notRestored('b', { how: 'found-before' }),
    notRestored('g', { how: 'done-before' }),
  ])
})

test('somebody who came back without the e-mail gets it when nobody has it any more', () => {
  const directory = directoryOf([haveUser('a', 'Name a', null)])
  const attempts = [{ kind: 'user', id: 'a', run: 14, does: 'create', undoes: 12 }] as const
  expect(undoOf([deleted('a', [])], directory, { attempts }).does).toEqual(['update-user a'])
  // Without an undo that brought him back, somebody else did, and it may be another person.
  expect(undoOf([deleted('a', [])], directory)).toMatchObject({
    does: [],
    says: [
      changedSince('a', {
        how: 'values',
        now: { name: 'Name a', email: null },
        did: 'deleted',
        values: NAMED('a'),
      }),
    ],
  })
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
  const attempts = [
    { kind: 'user', id: 'a', run: 14, does: 'create', undoes: null },
    { kind: 'group', id: 'h', run: 15, does: 'delete', undoes: null },
    { kind: 'user', id: 'nobody', run: 14, does: 'create', undoes: null },
  ] as const
  const ofA = changedSince('a', { how: 'created', by: 14 })
  const ofH = changedSince('h', { how: 'back', by: 15 })
  const whole = undoOf(changes, directory, { attempts })
  expect(whole.does).toEqual([])
  expect(whole.says).toEqual([
    ofA,
    changedSince('b', { how: 'joined', now: NAMED('b'), group: 'Group h' }),
    ofH,
  ])
  const part = undoOf(changes, directory, { attempts, part: { names: ['members'] } })
  expect(part.does).toEqual(['set-members g: a c'])
  expect(part.says).toEqual([ofA, ofH])
})

const ELSE = { name: 'Somebody Else', email: 'else@example.org' }
const OTHER = (id: string) => haveUser(id, ELSE.name, ELSE.email)
const deletedGroup = (id: string, ...ids: readonly string[]): Change => ({
  op: 'delete-group',
  id,
  have: { name: `Group ${id}`, members: ids },
  why: 'gone',
})

test('nobody is put into a group that is another one now, nor is anybody else put into groups', () => {
  const admins = directoryOf([haveUser('b')], [haveGroup('g', 'Admins', ['b'])])
  const changes = [deleted('a', ['g']), deletedGroup('g', 'a', 'b')]
  const isAdmins = changedSince('g', { how: 'name', now: 'Admins', did: 'deleted', name: 'Group g' })
  expect(undoOf(changes, admins)).toMatchObject({ does: ['create-user a'], says: [isAdmins] })
  for (const part of [{ names: ['members'] }, { ids: ['b'] }] as const)
    expect(undoOf(changes, admins, { part })).toMatchObject({ does: [], says: [isAdmins] })
  const another = directoryOf([OTHER('a'), haveUser('b')])
  const isOther = changedSince('a', { how: 'values', now: ELSE, did: 'deleted', values: NAMED('a') })
  expect(undoOf(changes, another)).toMatchObject({
    does: ['create-group g', 'set-members g: b'],
    says: [isOther],
  })
  const there = directoryOf([OTHER('a'), haveUser('b')], [haveGroup('h', 'Group h', ['b'])])
  for (const part of [{ names: ['members'] }, { kinds: ['group'] }, { ids: ['h'] }] as const)
    expect(undoOf([deleted('a', ['h'])], there, { part })).toMatchObject({ does: [], says: [isOther] })
})

test('somebody else under the id of a created user stays in the group that the run had put that one into', () => {
  const directory = directoryOf([OTHER('n'), haveUser('b')], [haveGroup('g', 'Group g', ['b', 'n'])])
  const changes = [created('n'), members('g', ['b'], ['b', 'n'])]
  for (const part of [{}, { kinds: ['group'] }, { names: ['members'] }, { ids: ['g'] }] as const)
    expect(undoOf(changes, directory, { part })).toMatchObject({
      does: [],
      says: [changedSince('n', { how: 'values', now: ELSE, did: 'wrote', values: NAMED('n') })],
    })
})

test('a created group stays for a user of another client under the id of a member that the run had added', () => {
  const directory = directoryOf([OTHER('n')], [haveGroup('g', 'Group g', ['n'])])
  const createdGroup: Change = { op: 'create-group', id: 'g', want: { name: 'Group g' } }
  expect(undoOf([created('n'), createdGroup, members('g', [], ['n'])], directory)).toMatchObject({
    does: [],
    says: [
      changedSince('n', { how: 'values', now: ELSE, did: 'wrote', values: NAMED('n') }),
      changedSince('g', { how: 'has-members', name: 'Group g', ...examplesOf(['n']) }),
    ],
  })
})

test('who was deleted by a later run and is there again is put into no group, unless an undo brought him back', () => {
  const directory = directoryOf([haveUser('u'), haveUser('b')], [haveGroup('g', 'Group g', ['b'])])
  const gone = { kind: 'user', id: 'u', run: 13, does: 'delete', undoes: null } as const
  const changes = [members('g', ['b', 'u'], ['b'])]
  expect(undoOf(changes, directory, { attempts: [gone] })).toMatchObject({
    does: [],
    says: [changedSince('u', { how: 'back', by: 13 })],
  })
  const back = { ...gone, run: 14, does: 'create', undoes: 13 } as const
  expect(undoOf(changes, directory, { attempts: [gone, back] })).toMatchObject({
    does: ['set-members g: b u'],
    says: [],
  })
  const group = { kind: 'group', id: 'g', run: 13, does: 'delete', undoes: null } as const
  expect(undoOf(changes, directory, { attempts: [group], part: { ids: ['u'] } })).toMatchObject({
    does: [],
    says: [changedSince('g', { how: 'back', by: 13 })],
  })
})

const GIVEN = { email: 'x@example.org', name: 'New' }
const createdB: Change = { op: 'create-user', id: 'b', want: GIVEN }
const updatedB: Change = { op: 'update-user', id: 'b', have: { ...GIVEN, email: null }, want: GIVEN }

test.each<[string, Part, readonly Change[]]>([
  ['other-run', {}, []],
  ['other-part', { ids: ['a'] }, [createdB]],
  ['had-none', {}, [updatedB]],
  ['left', {}, [createdB]],
])('why another user keeps an e-mail is known: %s', (why, part, changes) => {
  const directory = directoryOf([haveUser('b', 'New', 'x@example.org')])
  const users = new Map([['a', wantUser('a', 'Old', 'X@example.org')]])
  const params = {
    email: 'X@example.org',
    owner: 'b',
    how: 'held',
    from: 'before run 12',
    undo: null,
  } as const
  const notice = { kind: 'user', id: 'a', code: 'duplicate-email', params } as const
  const facts = { run: 12, part, directory, users, later: new LaterAttempts(12, []) }
  const advice = new EmailAdvice(facts, [notice])
  for (const change of changes) advice.add(change)
  expect(atOnce(advice.advised())).toEqual([{ ...notice, params: { ...params, undo: { run: 12, why } } }])
})

test('what is true of a source says nothing about an undo', () => {
  const directory = directoryOf([])
  const facts = { run: 12, part: {}, directory, users: new Map(), later: new LaterAttempts(12, []) }
  const [from, values] = ['x', { name: 'Ana', email: null }]
  const ofUser = { kind: 'user', id: 'a' } as const
  const moved = { ...ofUser, code: 'id-moved', params: { from, before: values, after: values, undone: null } }
  const swap = { ...ofUser, code: 'email-swap', params: { email: 'x', owner: 'b', isUndo: false } }
  const notices = [
    { ...ofUser, code: 'no-email', params: { from } },
    { ...ofUser, code: 'new-id', params: { oldId: 'b', email: 'x' } },
    { ...ofUser, code: 'other-id-form', params: { form: 'guid' } },
    moved,
    swap,
  ] as readonly Notice[]
  expect(atOnce(new EmailAdvice(facts, notices).advised())).toEqual([
    { ...moved, params: { ...moved.params, undone: 12 } },
    { ...swap, params: { ...swap.params, isUndo: true } },
  ])
})

const attempt = (run: number, does: 'create' | 'delete', undoes: number | null = null): LaterAttempt => ({
  kind: 'user',
  id: 'a',
  run,
  does,
  undoes,
})

test.each<[string, readonly LaterAttempt[], number | undefined]>([
  ['nothing', [], undefined],
  ['a delete', [attempt(13, 'delete')], 13],
  ['a delete that was undone', [attempt(13, 'delete'), attempt(14, 'create', 13)], undefined],
  [
    'an undo that was undone',
    [attempt(13, 'delete'), attempt(14, 'create', 13), attempt(15, 'delete', 14)],
    15,
  ],
  ['a delete and a create', [attempt(13, 'delete'), attempt(14, 'create')], 14],
  ['an undo of the run, and of that', [attempt(13, 'delete', 12), attempt(14, 'create', 13)], undefined],
  [
    'an undo that was begun twice',
    [attempt(13, 'delete'), attempt(14, 'create', 13), attempt(15, 'create', 13)],
    undefined,
  ],
])('what later runs did to somebody, after %s', (_, attempts, run) => {
  expect(new LaterAttempts(12, attempts).of('user', 'a')?.run).toBe(run)
})
