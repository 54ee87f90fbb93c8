import assert from 'node:assert/strict'
import { test } from 'vitest'
import { idsOf } from '../../../../src/core/within.ts'
import type { Ended, ToyCheck } from './ram.ts'
import {
  codes,
  configuration,
  create,
  del,
  deletedBefore,
  emptied,
  firstContact,
  grace,
  guard,
  ids,
  K,
  keysIn,
  leave,
  leavers,
  type More,
  mail,
  maxDeletes,
  maxMembers,
  minus,
  name,
  person,
  plus,
  policy,
  protect,
  quarantine,
  rest,
  seenAgain,
  server,
  snapshots,
  sourceEmpty,
  sync,
  type Sync,
  unreadable,
  x,
} from './toys.ts'

/** Each promise of the run as one scenario, with toy checks; the order of the keys is that of `applied`. */
const same = (sent: readonly string[], ...keys: readonly (string | readonly string[])[]) =>
  assert.deepEqual(sent.toSorted(), keys.flat().toSorted())
const excluding = (id: string) => ({ entries: { users: { exclude: [id] } } })

const inGroup = (more?: More) => snapshots(rest, [['g', []]], [...rest, x], [['g', ['x']]], more)
test('1 in grace: leaves groups at once, delete waits', () =>
  same(sync([grace(7), maxDeletes(50)]).run(inGroup()).sent, minus('g', 'x')))
test('2 a leaver of 30 groups is one change, no membership guard', () => {
  const gs = ids(30, 'g')
  same(
    sync([maxMembers(20)]).run(
      snapshots(
        rest,
        gs.map((g) => [g, []]),
        [...rest, x],
        gs.map((g) => [g, ['x']]),
      ),
    ).sent,
    del('x'),
  )
})
test('3 container emptied + grace: memberships stay', () =>
  same(sync([grace(7), emptied]).run(inGroup({ hidden: new Set(['x']) })).sent))
test('4 an approved guard is not held again by a newcomer, nor by one more leaver', () => {
  const s = sync([maxDeletes(50)]),
    a = s.run(leavers(60))
  s.approve(a.id)
  const b = s.run(leavers(61, [person('n')]))
  assert.equal(b.end, 'applied')
  assert.equal(b.sent.length, 61 + 3)
})
const approvedX = (checks: readonly ToyCheck[], more: More): [Sync, Ended] => {
  const s = sync([firstContact, ...checks])
  const a = s.run(inGroup())
  assert.equal(a.end, 'held')
  s.approve(a.id)
  return [s, s.run(inGroup(more))]
}
test('5 an approval deletes nobody whom a recheck finds', () => {
  const [s, b] = approvedX([seenAgain], { found: new Set(['x']) })
  same(b.sent)
  assert.equal(s.run(inGroup(), { now: 1 }).sent.length, 0, 'the approval has ended: asked again')
})
test('6 an approval deletes nothing on an unreadable source', () =>
  same(approvedX([unreadable], { isUnreadable: true })[1].sent))
test('7 an approval overrules neither exclude nor protect', () => {
  const [s, b] = approvedX([unreadable], { isUnreadable: true })
  same(b.sent)
  same(sync([protect('x')], { store: s.store }).run(inGroup()).sent)
  same(sync([], { rules: excluding('x'), store: s.store }).run(inGroup()).sent)
})
test('7b nor does an approval by id release what a policy, a list, the service or the read blocks', () => {
  const gone = leavers(1)
  for (const check of [
    policy('upsert'),
    protect('l000'),
    quarantine(leave('l000'), del('l000')),
    unreadable,
  ]) {
    const s = sync([check])
    const world = check === unreadable ? { ...gone, isUnreadable: true } : gone
    s.approve(s.run(world).id, { id: ['l000'] })
    same(s.run(world).sent)
  }
})
test('8 what a part approval left out stays blocked below the limit', () => {
  const s = sync([maxDeletes(50)]),
    a = s.run(leavers(60))
  s.approve(a.id, { id: ids(11, 'l') })
  same(
    s.run(leavers(60)).sent,
    ids(11, 'l').map((id) => del(id)),
  )
  const c = s.run(snapshots(rest, [], [...rest, ...ids(60, 'l').slice(11).map(person)], []))
  same(c.sent)
  assert.equal(c.asked.length, 49)
})
test('9 an excluded duplicate costs nobody the e-mail; an excluded holder keeps it', () => {
  const r = sync([], { rules: excluding('a1') })
  same(
    r.run(
      snapshots(
        [
          ['a1', 'x@e'],
          ['z9', 'x@e', 'Z'],
        ],
        [],
        [],
        [],
      ),
    ).sent,
    create('z9'),
    name('z9', 'Z'),
    mail('z9', 'x@e'),
  )
  same(r.run(snapshots([['z9', 'x@e', 'Z']], [], [['a1', 'x@e']], [])).sent, create('z9'), name('z9', 'Z'))
})
test('10 changed filter + grace: held now, not in 7 days', () =>
  assert.equal(sync([grace(7), configuration]).run(leavers(60, [], { configuration: 'b' })).end, 'held'))
const rejecting = (key: string): Sync => {
  const s = sync()
  const rejections = new Map([[key, { run: 1, by: 'ana', at: new Date(0), reason: '' }]])
  s.store.ledgers.set('sync', { ...s.store.ledger('sync'), rejections })
  return s
}
test('11 a chain behind a rejected e-mail: e-mails fall, names go', () =>
  same(
    rejecting(mail('a', 'n@e')).run(
      snapshots(
        [
          ['a', 'n@e', 'A'],
          ['b', 'x@e', 'B2'],
          ['c', 'y@e', 'C2'],
        ],
        [],
        [
          ['a', 'x@e', 'A'],
          ['b', 'y@e', 'B'],
          ['c', 'z@e', 'C'],
        ],
        [],
      ),
    ).sent,
    name('b', 'B2'),
    name('c', 'C2'),
  ))
const newcomer = snapshots([['n', 'x@e', 'N']], [['g', ['n']]], [['o', 'x@e', 'O']], [['g', ['o']]])
test('12 a newcomer whose e-mail is held by one in grace', () =>
  same(sync([grace(7)]).run(newcomer).sent, create('n'), name('n', 'N'), plus('g', 'n'), minus('g', 'o')))
const circle = snapshots(
  [
    ['a', 'y@e'],
    ['b', 'x@e'],
  ],
  [],
  [
    ['a', 'x@e'],
    ['b', 'y@e'],
  ],
  [],
)
test('13 a circle is sent', () => same(sync().run(circle).sent, mail('a', 'y@e'), mail('b', 'x@e')))
test('14 a circle of which one is rejected stays', () => same(rejecting(mail('a', 'y@e')).run(circle).sent))
test('15 approving the one key that is named releases the change', () => {
  const s = sync([deletedBefore]),
    w = snapshots([x], [['g', ['x']]], [], [['g', []]], { deletedLastDay: new Set(['x']) }),
    a = s.run(w)
  same(a.sent)
  s.approve(a.id, { id: ['x'] })
  assert.equal(s.run(w).sent.length, 4)
})
test('16 an accepted server still meets the guards', () => {
  const s = sync([server, maxDeletes(50)])
  s.run(leavers(0, [], { server: 9 }))
  const a = s.run(leavers(60, [], { server: 5 }))
  same(a.asked, K('fact', 'server', 'at 5'))
  s.approve(a.id)
  const b = s.run(leavers(60, [], { server: 5 }))
  assert.equal(b.end, 'held')
  assert.equal(codes(b), 'max-deletes')
})
test('17 upsert: no question about deletes that policy forbids', () =>
  assert.equal(codes(sync([policy('upsert'), emptied]).run(inGroup({ hidden: new Set(['x']) }))), 'policy'))
test('18 approve RUN decides what RUN had shown', () => {
  const s = sync([maxDeletes(50)]),
    a = s.run(leavers(60))
  s.run(leavers(460))
  assert.equal(s.approve(a.id), 60)
})
test('19 an approval that a complete run does not want ends', () => {
  const s = sync([maxDeletes(50)]),
    a = s.run(leavers(60))
  s.approve(a.id)
  s.run(leavers(0))
  assert.equal(s.run(leavers(60)).end, 'held')
})
test('20 keys of two changes differ', () =>
  assert.notEqual(K('group', 'a +member b', '+member', 'c'), K('group', 'a', '+member', 'b +member c')))

test('21 behind container-emptied all of a user stays; approved, it is one delete', () => {
  const s = sync([emptied]),
    w = inGroup({ hidden: new Set(['x']) }),
    a = s.run(w)
  same(a.sent)
  same(a.asked, leave('x'))
  s.approve(a.id)
  same(s.run(w).sent, del('x'))
})
test('22 back within grace: not deleted, and the next absence counts from its own day', () => {
  const s = sync([grace(7)])
  s.run(inGroup(), { now: 0 })
  same(
    s.run(snapshots([...rest, x], [['g', ['x']]], [...rest, x], [['g', []]]), { now: 3, crash: true }).sent,
  )
  s.run(inGroup(), { now: 5 })
  assert.ok(!s.run(inGroup(), { now: 8 }).sent.includes(del('x')))
  same(s.run(inGroup(), { now: 12 }).sent, del('x'))
})
test('23 a grace period is approved early by id, never by a plain approve', () => {
  const s = sync([grace(7)]),
    a = s.run(inGroup())
  assert.equal(s.approve(a.id), 0)
  s.approve(a.id, { id: ['x'] })
  same(s.run(inGroup()).sent, del('x'))
})
test('24 an approval unused for a week ends, its question is open again', () => {
  const s = sync([firstContact, unreadable]),
    a = s.run(inGroup())
  s.approve(a.id)
  for (const now of [1, 8]) same(s.run(inGroup({ isUnreadable: true }), { now }).sent)
  const b = s.run(inGroup(), { now: 9 })
  same(b.sent)
  same(b.asked, leave('x'))
})
test('25 approve one of 60: that one goes, the others and the newcomers wait', () => {
  const s = sync([maxDeletes(50)]),
    a = s.run(leavers(60, [person('n')]))
  s.approve(a.id, { id: ['l007'] })
  const b = s.run(leavers(60, [person('n')]))
  same(b.sent, del('l007'))
  assert.equal(b.end, 'held')
  assert.equal(b.asked.length, 59)
})
const one = (more?: More) => snapshots(rest, [], [...rest, person('l003')], [], more)
test('26 reject one of ten: nine go; it stays rejected while unjudged, until the source wants it back', () => {
  const s = sync([maxDeletes(5)]),
    a = s.run(leavers(10))
  s.reject(a.id, { id: ['l003'] })
  s.approve(a.id)
  assert.equal(s.run(leavers(10)).sent.length, 9)
  same(s.run(one({ seen: ['l003'] })).sent)
  same(s.run(one()).sent)
  same(s.run(snapshots([...rest, person('l003')], [], [...rest, person('l003')], [])).sent)
  same(s.run(one()).sent, del('l003'))
})
test('27 held, then 15 leavers fewer: the other 45 stay blocked, newcomers go', () => {
  const s = sync([maxDeletes(50)])
  s.run(leavers(60))
  const b = s.run(leavers(45, [person('n')]))
  assert.equal(b.end, 'applied')
  assert.equal(b.asked.length, 45)
  assert.equal(b.sent.length, 3)
  s.approve(b.id, { code: 'max-deletes' })
  assert.equal(s.run(leavers(45)).sent.length, 45)
})
test('28 held: creates wait until all is decided; rejected deletes stay, creates go', () => {
  const s = sync([maxDeletes(50)]),
    w = leavers(60, [person('n')]),
    a = s.run(w)
  same(a.sent)
  same(s.run(w).sent)
  s.reject(a.id)
  assert.equal(s.run(w).sent.length, 3)
})
test('29 the creates of a held plan are approved alone; the deletes stay asked', () => {
  const s = sync([maxDeletes(50)]),
    w = leavers(60, [person('n')]),
    a = s.run(w)
  s.approve(a.id, { only: ['creates', 'updates'] })
  const b = s.run(w)
  assert.equal(b.sent.length, 3)
  assert.equal(b.asked.length, 60)
})
test('30 an e-mail chain whose middle is in quarantine: what is before goes, what is behind falls', () =>
  same(
    sync([quarantine(mail('b', 'x@e'))]).run(
      snapshots(
        [
          ['a', 'n@e'],
          ['b', 'x@e'],
          ['c', 'y@e'],
        ],
        [],
        [
          ['a', 'x@e'],
          ['b', 'y@e'],
          ['c', 'z@e'],
        ],
        [],
      ),
    ).sent,
    mail('a', 'n@e'),
  ))
test('31 of a circle of three one is rejected: all three and what hangs on it stay', () =>
  same(
    rejecting(mail('b', 'z@e')).run(
      snapshots(
        [
          ['a', 'y@e'],
          ['b', 'z@e'],
          ['c', 'x@e'],
          ['d', 'n@e', 'D'],
        ],
        [],
        [
          ['a', 'x@e'],
          ['b', 'y@e'],
          ['c', 'z@e'],
          ['d', 'm@e', 'd'],
        ],
        [],
      ),
    ).sent,
    mail('d', 'n@e'),
    name('d', 'D'),
  ))
test('32 order: what frees an e-mail first, circles last', () => {
  const { sent } = sync().run(
    snapshots(
      [
        ['h', 'p@e'],
        ['a', 'y@e'],
        ['b', 'x@e'],
      ],
      [],
      [
        ['a', 'x@e'],
        ['b', 'y@e'],
        ['q', 'p@e'],
      ],
      [],
    ),
  )
  assert.deepEqual(sent, [del('q'), create('h'), mail('h', 'p@e'), mail('a', 'y@e'), mail('b', 'x@e')])
})
test('33 a group is deleted with its members; blocked, who is absent still leaves it', () => {
  const w = snapshots(rest, [], [...rest, x], [['g', ['x', 'r001']]])
  same(sync([grace(0), quarantine(del('x'))]).run(w).sent, del('g', 'group'))
  same(sync([quarantine(del('x'), del('g', 'group'))]).run(w).sent, minus('g', 'x'))
})
test('34 a new group with a blocked new member is created with the others', () =>
  same(
    rejecting(create('n')).run(
      snapshots(
        [
          ['n', 'n@e'],
          ['r', 'r@e'],
        ],
        [['g', ['n', 'r']]],
        [['r', 'r@e']],
        [],
      ),
    ).sent,
    create('g', 'group'),
    plus('g', 'r'),
  ))
test('35 an approved delete of an undo is no approval of the sync, and ends nothing there', () => {
  const s = sync([firstContact]),
    a = s.run(inGroup())
  const u = sync([firstContact], { origin: 'undo', store: s.store }),
    b = u.run(inGroup())
  u.approve(b.id)
  same(s.run(inGroup()).sent)
  u.run(inGroup())
  same(s.open(), leave('x'))
  assert.equal(s.approve(a.id), 1)
})
test('36 a partial read blocks what a check of the whole cannot judge, approved or not, and ends no question', () => {
  const s = sync([emptied]),
    a = s.run(inGroup({ hidden: new Set(['x']) }))
  s.approve(a.id)
  same(s.run(inGroup({ isPartial: true })).sent)
  same(s.run(snapshots(rest, [['g', []]], rest, [['g', []]], { isPartial: true })).sent)
  same(s.run(inGroup()).sent, del('x'))
})
test('37 crash after begun, then an older server: nobody just created is deleted', () => {
  const s = sync([server])
  s.run(snapshots([x], [], [], [], { server: 9 }), { crash: true })
  const b = s.run(snapshots([], [], [x], [], { server: 5 }))
  same(b.sent)
  assert.equal(codes(b), 'server-older')
})
test('38 a protected user keeps entry and memberships', () => same(sync([protect('x')]).run(inGroup()).sent))
test('39 upsert takes nobody out of a group; create-only changes no group that exists', () => {
  const w = snapshots([person('r'), person('s')], [['g', ['s']]], [x, person('r')], [['g', ['x', 'r']]]),
    new_s = [create('s'), name('s', 's'), mail('s', 's@e')]
  same(sync([policy('upsert')]).run(w).sent, new_s, plus('g', 's'))
  same(sync([policy('create-only')]).run(w).sent, new_s)
})
test('40 two reasons: plain approve refuses; a key with two reasons needs both', () => {
  const s = sync([maxDeletes(0), firstContact]),
    a = s.run(inGroup())
  assert.throws(() => s.approve(a.id))
  s.approve(a.id, { code: 'max-deletes' })
  same(s.run(inGroup()).sent)
  s.approve(a.id, { code: 'first-contact' })
  same(s.run(inGroup()).sent, del('x'))
})
const back = (more?: More) => leavers(0, [x], more)
test('41 a question that no complete run wants ends; a partial or unreadable run ends none', () => {
  const s = sync([maxDeletes(0)])
  s.run(inGroup())
  s.run(back({ isUnreadable: true }))
  s.run(back({ isPartial: true }))
  same(s.open(), leave('x'))
  s.run(back())
  same(s.open())
})
test('42 approve --id of a newcomer does not approve the delete that would free its e-mail', () => {
  const s = sync([firstContact]),
    a = s.run(newcomer)
  s.approve(a.id, { id: ['n'] })
  same(s.run(newcomer).sent, create('n'), name('n', 'N'), plus('g', 'n'))
  s.approve(a.id)
  same(
    s.run(newcomer).sent.filter((key) => !key.includes('create')),
    del('o'),
    mail('n', 'x@e'),
    name('n', 'N'),
    plus('g', 'n'),
  )
})
test('42b nor an e-mail of another one that is asked itself', () => {
  const s = sync([
      guard(
        'max-emails',
        ({ left }) => keysIn(left, 'email'),
        (keys) => keys > 1,
      ),
    ]),
    w = snapshots(
      [
        ['a', 'y@e'],
        ['b', 'z@e'],
      ],
      [],
      [
        ['a', 'x@e'],
        ['b', 'y@e'],
      ],
      [],
    ),
    a = s.run(w)
  s.approve(a.id, { id: ['a'] })
  same(s.run(w).sent)
  s.approve(a.id)
  same(s.run(w).sent, mail('a', 'y@e'), mail('b', 'z@e'))
})
test('43 a part of a configuration change approved: the new configuration is not yet the normal one', () => {
  const s = sync([configuration]),
    w = leavers(60, [], { configuration: 'b' }),
    a = s.run(w)
  s.approve(a.id, { id: ['l000'] })
  assert.equal(s.run(w).end, 'held')
  assert.match(codes(s.run(w)), /configuration-changed/)
})
test('44 a dry run asks nothing, keeps nothing, and its number can be approved', () => {
  const s = sync([grace(7), maxDeletes(0)]),
    a = s.run(inGroup(), { isDry: true })
  same(s.open())
  assert.equal(s.store.states.get('grace'), undefined)
  s.approve(a.id, { id: ['x'] })
  same(s.run(inGroup()).sent, del('x'))
})
test('45 a needed change that fails takes only what needs it', () =>
  same(
    sync().run(
      snapshots(
        [
          ['n', 'n@e', 'N'],
          ['r', 'r@e'],
        ],
        [['g', ['n', 'r']]],
        [['r', 'r@e']],
        [],
      ),
      { fails: (key) => key === create('n') },
    ).sent,
    create('g', 'group'),
    plus('g', 'r'),
  ))
test('46 create-only: an e-mail that is not written is no claim', () =>
  assert.ok(
    sync([], { rules: { policy: 'create-only' } })
      .run(
        snapshots(
          [
            ['a', 'x@e'],
            ['z', 'x@e'],
          ],
          [],
          [['a', 'old@e']],
          [],
        ),
      )
      .sent.includes(mail('z', 'x@e')),
  ))
test('47 container approved during a long grace: leaves groups now, is deleted later without a new question', () => {
  const s = sync([grace(30), emptied]),
    w = inGroup({ hidden: new Set(['x']) }),
    a = s.run(w)
  s.approve(a.id)
  same(s.run(w).sent, minus('g', 'x'))
  const gone = snapshots(rest, [['g', []]], [...rest, x], [['g', []]], { hidden: new Set(['x']) })
  same(s.run(gone, { now: 20 }).sent)
  same(s.run(gone, { now: 31 }).sent, del('x'))
})
test('48 a reason that a later run adds is not covered by the approval of an earlier run', () => {
  const s = sync([emptied, firstContact]),
    a = s.run(inGroup())
  s.approve(a.id)
  const b = s.run(inGroup({ hidden: new Set(['x']) }))
  same(b.sent)
  assert.equal(codes(b), 'container-emptied')
})
test('49 a part sends its keys and what they need, and asks only about itself', () => {
  const w = snapshots(
      [
        ['n', 'x@e'],
        ['m', 'm@e'],
      ],
      [],
      [
        ['o', 'x@e'],
        ['p', 'p@e'],
      ],
      [],
    ),
    r = sync().run(w, { scope: idsOf({ users: ['n'], groups: [] }) })
  same(r.sent, create('n'), mail('n', 'x@e'), del('o'))
})
const none = (n: number) => snapshots([...rest, x], [], [...rest, x], [], { server: n })
test('50 an approved server is the new normal, and its token is asked again after the next newer one', () => {
  const s = sync([server])
  s.run(none(9))
  const a = s.run(none(5))
  s.approve(a.id)
  s.run(none(5))
  assert.equal(codes(s.run(none(5), { now: 30 })), '')
  s.run(none(9))
  assert.equal(codes(s.run(none(5))), 'server-older')
})
const few = (n: number) => snapshots(rest.slice(0, n), [], rest.slice(0, 9), [])
test('51 an empty source asks one fact and stops also what is approved; accepted, it meets max-deletes', () => {
  const s = sync([sourceEmpty, maxDeletes(2)]),
    a = s.run(few(5))
  s.approve(a.id, { id: ['r008'] })
  const b = s.run(few(0))
  same(b.sent)
  s.approve(b.id, { code: 'source-empty' })
  const c = s.run(few(0))
  same(c.sent, del('r008'))
  assert.equal(codes(c), 'max-deletes')
  assert.equal(codes(s.run(few(0))), 'max-deletes')
})
test('52 of held creates one is approved: it comes with its values and memberships', () => {
  const s = sync([
      guard(
        'max-creates',
        ({ left }) => keysIn(left, 'create'),
        (keys) => keys > 1,
      ),
    ]),
    w = snapshots(rest.slice(0, 3), [['g', ['r000', 'r001']]], [], [['g', []]]),
    a = s.run(w)
  s.approve(a.id, { id: ['r001'] })
  same(s.run(w).sent, create('r001'), name('r001', 'r001'), mail('r001', 'r001@e'), plus('g', 'r001'))
})
test('53 approve and reject take each other back, but only where the key is named', () => {
  const s = sync([maxDeletes(5)]),
    w = leavers(10),
    a = s.run(w)
  s.approve(a.id)
  s.reject(a.id, { id: ['l001'] })
  s.approve(a.id)
  assert.equal(s.run(w).sent.length, 9)
  const b = s.run(snapshots(rest, [], [...rest, person('l001')], []))
  same(b.sent)
  s.approve(b.id, { id: ['l001'] })
  same(s.run(snapshots(rest, [], [...rest, person('l001')], [])).sent, del('l001'))
})
test('54 rejecting a delete in grace keeps the memberships too', () => {
  const s = sync([grace(7)]),
    a = s.run(inGroup(), { isDry: true })
  s.reject(a.id, { id: ['x'] })
  same(s.run(inGroup()).sent)
})
test('55 a failed change keeps its approval', () => {
  const s = sync([firstContact]),
    a = s.run(inGroup())
  s.approve(a.id)
  same(s.run(inGroup(), { fails: () => true }).sent)
  same(s.run(inGroup()).sent, del('x'))
})
test('56 a plain approve of a guard leaves grace in force for the same key', () => {
  const s = sync([grace(7), firstContact]),
    w = snapshots(rest, [], rest, [['g', []]]),
    a = s.run(w)
  same(a.asked, del('g', 'group'))
  s.approve(a.id)
  same(s.run(w).sent)
  same(s.run(w, { now: 7 }).sent, del('g', 'group'))
})
test('57 an approval is for once, and a run on a doubted server ends no question', () => {
  const s = sync([maxDeletes(0), server]),
    a = s.run(inGroup({ server: 9 }))
  s.run(leavers(0, [x], { server: 5 }))
  assert.ok(s.open().includes(leave('x')))
  s.approve(a.id)
  same(s.run(inGroup({ server: 9 })).sent, del('x'))
  same(s.run(inGroup({ server: 9 })).asked, leave('x'))
})
