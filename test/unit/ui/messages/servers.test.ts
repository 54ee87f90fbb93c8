import { expect, test } from 'vitest'
import type { NotNewer, ServerParams, ServerState } from '../../../../src/core/block.ts'
import { serverText } from '../../../../src/ui/messages/servers.ts'
import { RETIRED } from './retired.ts'

type Row<Code extends keyof ServerParams> = readonly [params: ServerParams[Code], sentence: string]

const USN = { key: 'usn', known: '2', seen: '1' }

function notNewer(how: NotNewer['how'], more: Partial<NotNewer> = {}): NotNewer {
  const [since, until] = ['2026-03-10T12:00:00.000Z', '2026-03-11T12:00:00.000Z'] as const
  return { how, server: 'dc2', last: 'dc1', difference: USN, since, until, needsApproval: false, ...more }
}

/** Does not compile without a sentence for each code. */
const SENTENCES: { readonly [Code in keyof ServerParams]: readonly [Row<Code>, ...Row<Code>[]] } = {
  'first-read': [[{ server: 'dc2' }, 'dc2 is read for the first time']],
  current: [[{ server: 'dc2' }, 'dc2 has all that the last complete run read']],
  accepted: [[{ server: 'dc2' }, 'an operator accepted the state of dc2']],
  'only-server': [[{ server: 'dc2' }, 'dc2 shows no replication state, and is the only server']],
  'no-state': [
    [
      { server: 'dc2', why: { how: 'other-server', difference: { ...USN, known: null } } },
      'dc2 shows no replication state and is another or a newly filled server (usn: nothing then, 1 now), so a second read has to confirm a delete',
    ],
    [
      { server: 'dc2', why: { how: 'was-other-server', at: '2026-03-10T12:00:00.000Z' } },
      'dc2 shows no replication state and was another or a newly filled server at 2026-03-10 12:00:00Z, so a second read has to confirm a delete',
    ],
    [
      { server: 'dc2', why: { how: 'several-addresses', addresses: 3 } },
      'dc2 shows no replication state and is one of 3 addresses of the source, so a second read has to confirm a delete',
    ],
    [
      { server: 'dc2', why: { how: 'perhaps-several' } },
      'dc2 shows no replication state and may be one of several behind its address, so a second read has to confirm a delete',
    ],
  ],
  'not-newer': [
    [
      notNewer('hidden', { difference: { ...USN, seen: null } }),
      'dc2 shows no replication state, and the last complete run read one (usn: 2 then, nothing now); users, groups and members are only added until it has all that the last complete run read; dirsyncd check names the rights that its bind account needs; if that lasts until 2026-03-11 12:00:00Z, a run asks whether to accept this server',
    ],
    [
      notNewer('older'),
      'dc2 is older than dc1 was in the last complete run (usn: 2 then, 1 now); nothing is changed until it has caught up; if that lasts until 2026-03-11 12:00:00Z, a run asks whether to accept this server',
    ],
    [
      notNewer('older', { needsApproval: true }),
      'dc2 is older than dc1 was in the last complete run (usn: 2 then, 1 now); nothing is changed until it has caught up; it has been so since 2026-03-10 12:00:00Z: approve to accept the state of this server',
    ],
    [
      notNewer('other-database', { difference: { key: 'database', known: 'one', seen: 'two' } }),
      'dc2 has another database than dc1 had in the last complete run (database: one then, two now); users, groups and members are only added until it has all that the last complete run read; if that lasts until 2026-03-11 12:00:00Z, a run asks whether to accept this server',
    ],
    [
      notNewer('diverged'),
      'dc2 lacks changes that dc1 had in the last complete run, and has other ones (usn: 2 then, 1 now); users, groups and members are only added until it has all that the last complete run read; if that lasts until 2026-03-11 12:00:00Z, a run asks whether to accept this server',
    ],
    [
      notNewer('lacks-additions'),
      'dc2 lacks changes of another server, from which this sync has added users, groups or members since the last complete run (usn: 2 then, 1 now); users, groups and members are only added until it has all that the last complete run read; if that lasts until 2026-03-11 12:00:00Z, a run asks whether to accept this server',
    ],
  ],
}

const rows = Object.entries(SENTENCES).flatMap(([code, each]) =>
  each.map(([params, sentence]) => ({ state: { code, params } as ServerState, sentence })),
)

test.each(rows)('$state.code: $sentence', ({ state, sentence }) => {
  expect(serverText(state)).toBe(sentence)
  expect(serverText(state)).not.toMatch(RETIRED)
})
