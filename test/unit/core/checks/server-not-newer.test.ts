import { describe, expect, test } from 'vitest'
import { serverNotNewer } from '../../../../src/core/checks/server-not-newer.ts'
import { atOnce } from '../../../../src/base/steps.ts'
import type { ServerEvidence } from '../../../../src/core/entries/position.ts'
import { judge } from '../../../../src/core/judge.ts'
import { judgeServer, type ServerMemory } from '../../../../src/core/plan/server.ts'
import {
  approving,
  BEGUN,
  blocksOf,
  directoryOf,
  ended,
  factsOf,
  HOUR,
  leftAfter,
  nextOf,
  NOW,
  sourceOf,
  type Given,
} from './build.ts'

const SEEN: ServerEvidence = {
  url: 'ldap://dc.example.org:389',
  address: '10.0.0.1',
  addresses: 2,
  database: 'db',
  hints: {},
  position: { 'db 001': '100' },
}
const OLDER = { ...SEEN, position: { 'db 001': '99' } }
const DIVERGED = { ...SEEN, position: { 'db 001': '99', 'db 002': '1' } }

function serverAt(memory: ServerMemory | undefined, seen: ServerEvidence, accepted = false) {
  const circumstances = { now: NOW, confirmAfterMs: HOUR, hidesServers: false }
  return judgeServer(memory, seen, { ...circumstances, isAccepted: () => accepted })
}
const MEMORY = serverAt(undefined, SEEN).next
const SINCE_YESTERDAY = { ...MEMORY, notNewerSince: '2026-03-09T12:00:00.000Z' }

const source = sourceOf(
  [
    { id: 'a', name: 'New' },
    'new',
    { id: 'taker', email: 'b@example.org' },
    { id: 'b', email: 'c@example.org' },
  ],
  { g: ['new', 'a'], fresh: [] },
)
const directory = directoryOf(['a', 'b', 'gone'], { g: ['b', 'gone'] })
const factsWith = (server: ReturnType<typeof serverAt> | undefined, given?: Given) =>
  factsOf(source, directory, { server, ...given })

describe('a server that is not as new as the last complete run', () => {
  test('and has data of its own only adds: no update, delete or removal, and no e-mail of another user', () => {
    const server = serverAt(MEMORY, DIVERGED)
    expect(blocksOf(serverNotNewer, factsWith(server))).toMatchObject([
      { code: 'server-not-newer', until: 'read', params: { how: 'diverged', needsApproval: false } },
    ])
    expect(leftAfter(serverNotNewer, factsWith(server))).toEqual([
      'user new create',
      'user taker create',
      'user new name Name new',
      'user taker name Name taker',
      'user new email new@example.org',
      'group fresh create',
      'group g +member a',
      'group g +member new',
    ])
  })

  test('and is only older changes nothing, because it shows deleted entries again', () => {
    expect(leftAfter(serverNotNewer, factsWith(serverAt(MEMORY, OLDER)))).toEqual([])
  })

  test('is no question in its first day, and one about this server then', () => {
    const [block] = blocksOf(serverNotNewer, factsWith(serverAt(MEMORY, OLDER)))
    expect(block?.asks).toBeUndefined()
    const server = serverAt(SINCE_YESTERDAY, OLDER)
    const [asked] = blocksOf(serverNotNewer, factsWith(server))
    expect(asked?.asks).toEqual(['fact', 'server', server.trouble?.token])
    expect(asked?.params).toMatchObject({ needsApproval: true })
  })

  test('deletes nobody by the approval of a delete', () => {
    const ledger = approving('server-not-newer', ['user', 'gone', 'leave'], ['user', 'gone', 'delete'])
    const left = leftAfter(serverNotNewer, factsWith(serverAt(MEMORY, DIVERGED), { ledger }))
    expect(left).not.toContain('user gone delete')
  })

  test('may change everything when an operator accepted it, and stays accepted while the plan is held', () => {
    const token = serverAt(SINCE_YESTERDAY, OLDER).trouble?.token ?? ''
    const ledger = approving('server-not-newer', ['fact', 'server', token])
    const facts = factsWith(serverAt(SINCE_YESTERDAY, OLDER, true), { ledger })
    expect(leftAfter(serverNotNewer, facts)).toContain('user gone delete')
    const { blocks, found } = atOnce(judge([serverNotNewer], facts))
    expect([blocks, found.map(({ asks }) => asks)]).toEqual([[], [['fact', 'server', token]]])
  })
})

test.each([
  ['as new', serverAt(MEMORY, SEEN)],
  ['without a replication state', serverAt(undefined, { ...SEEN, position: undefined })],
  ['of no source', undefined],
])('a server %s blocks nothing', (_, server) => {
  expect(blocksOf(serverNotNewer, factsWith(server))).toEqual([])
})

const recordAfter = (server: ReturnType<typeof serverAt> | undefined, moment: typeof BEGUN, given?: Given) =>
  nextOf(serverNotNewer, factsWith(server, given), moment)

describe('the record of the server', () => {
  test('is the new one at the end of a run that applied, and the old one of others', () => {
    const server = serverAt(MEMORY, { ...SEEN, position: { 'db 001': '101' } })
    expect(recordAfter(server, BEGUN)).toEqual({})
    expect(recordAfter(server, ended('applied'))).toEqual({ server: server.next })
    for (const end of ['held', 'failed'] as const)
      expect(recordAfter(server, ended(end)).server?.position).toEqual(MEMORY.position)
    expect(recordAfter(serverAt(undefined, SEEN), ended('held'))).toEqual({})
  })

  test('names the additions before the first of them is made, and nothing where there is none', () => {
    const server = serverAt(MEMORY, DIVERGED)
    expect(recordAfter(server, BEGUN).server?.added).toEqual([DIVERGED.position])
    const nothing = factsOf(directorySource(), directory, { server })
    expect(nextOf(serverNotNewer, nothing, BEGUN)).toEqual({ server: server.next })
  })

  test('of a server in doubt is never the new one', () => {
    for (const seen of [OLDER, DIVERGED])
      for (const end of ['applied', 'held'] as const)
        expect(recordAfter(serverAt(MEMORY, seen), ended(end))).toEqual({})
    expect(recordAfter(serverAt(MEMORY, OLDER), BEGUN).server?.notNewerSince).toBe(NOW.toISOString())
    expect(recordAfter(undefined, BEGUN)).toEqual({})
  })
})

/** A source equal to the directory. */
function directorySource() {
  return sourceOf(['a', 'b', 'gone'], { g: ['b', 'gone'] })
}
