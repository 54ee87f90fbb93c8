import { expect, test } from 'vitest'
import { atOnce } from '../../../src/base/steps.ts'
import { all as allKeys, keyText } from '../../../src/core/keys.ts'
import { order } from '../../../src/core/order.ts'
import { madeKeys } from '../../../src/sync/report.ts'
import type { Judged } from '../../../src/sync/run-store.ts'
import { create, mail, maxUpdates, name, person, plus, rest, snapshots, sync } from '../core/run/toys.ts'

test('a key is made where its change and all that it needs were made', () => {
  const s = sync([maxUpdates(0)])
  const world = snapshots(
    [
      person('n'),
      ['r000', 'r000@e', 'Renamed'],
      ['r001', 'r002@e', 'Renamed'],
      ['r002', 'new@e', 'r002'],
      ...rest.slice(3),
    ],
    [['g', ['n', 'r003']]],
    rest,
    [['g', []]],
  )
  s.approve(s.run(world).id)
  const { facts } = s.run(world)
  const plan = atOnce(order(facts.left, () => 'gone'))
  const made = (...open: string[]) => {
    const judged = { facts, plan } as unknown as Judged
    const { isMade } = atOnce(madeKeys(judged, new Set(open)))
    return [...allKeys(facts.left)].flatMap((key) => (key !== undefined && isMade(key) ? [keyText(key)] : []))
  }
  const renames = [name('r000', 'Renamed'), name('r001', 'Renamed')]
  const all = [
    create('n'),
    mail('n', 'n@e'),
    name('n', 'n'),
    plus('g', 'n'),
    plus('g', 'r003'),
    mail('r002', 'new@e'),
  ]
  expect(made().toSorted()).toEqual([...renames, ...all, mail('r001', 'r002@e')].toSorted())
  expect(made('create-user n', 'update-user r002').toSorted()).toEqual(
    [...renames, plus('g', 'r003')].toSorted(),
  )
})
