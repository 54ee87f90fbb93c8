import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, expect, test } from 'vitest'
import { OpenSyncs } from '../../../src/compose/open-syncs.ts'
import type { SyncConfig } from '../../../src/config/config.ts'

const happened: string[] = []
let broken = ''

beforeEach(() => {
  happened.length = 0
  broken = ''
})

function sync(name: string, written: Record<string, string> = { url: 'a' }): SyncConfig {
  return { name, written } as unknown as SyncConfig
}

function openSyncs(): OpenSyncs {
  return new OpenSyncs(async ({ name }) => {
    if (name === broken) throw new Error(`${name} cannot be opened`)
    happened.push(`open ${name}`)
    return {
      async [Symbol.asyncDispose]() {
        await sleep(5)
        happened.push(`close ${name}`)
      },
    }
  })
}

test('only what differs is closed and opened, and all of it is closed before one is opened', async () => {
  await using syncs = openSyncs()
  await syncs.begin([sync('same'), sync('corp'), sync('extra'), sync('old')])
  happened.length = 0
  const swapped = { url: 'b', policy: 'upsert' }
  const { changes } = await syncs.change([
    sync('same'),
    sync('corp', swapped),
    sync('extra', { url: 'c' }),
    sync('new'),
  ])
  expect(changes).toEqual({
    added: ['new'],
    changed: [
      { sync: 'corp', keys: ['policy', 'url'] },
      { sync: 'extra', keys: ['url'] },
    ],
    removed: ['old'],
  })
  expect(happened.slice(0, 3).toSorted()).toEqual(['close corp', 'close extra', 'close old'])
  expect(happened.slice(3)).toEqual(['open corp', 'open extra', 'open new'])
  happened.length = 0
  await syncs.change([sync('same'), sync('corp', swapped), sync('extra', { url: 'c' }), sync('new')])
  expect(happened).toEqual([])
})

test('work on a sync that is being changed waits until that is done, and no other', async () => {
  await using syncs = openSyncs()
  await syncs.begin([sync('same'), sync('corp')])
  happened.length = 0
  const change = syncs.change([sync('same'), sync('corp', { url: 'b' })])
  await syncs.settled('same')
  expect(happened).toEqual([])
  await syncs.settled('corp')
  expect(happened).toEqual(['close corp', 'open corp'])
  await change
})

test('a sync that cannot be opened keeps no other from it, and is tried again', async () => {
  await using syncs = openSyncs()
  broken = 'corp'
  const both = [sync('corp'), sync('extra')]
  const { failures } = await syncs.change(both)
  expect(failures).toEqual([expect.objectContaining({ message: 'corp cannot be opened' })])
  expect(happened).toEqual(['open extra'])
  broken = ''
  expect((await syncs.change(both)).changes.added).toEqual(['corp'])
  expect(happened).toEqual(['open extra', 'open corp'])
})
