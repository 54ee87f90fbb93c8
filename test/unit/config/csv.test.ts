import { expect, test } from 'vitest'
import { checkConfig } from '../../../src/config/check.ts'

const MAP = { external_id: 'id' }
const GROUP_MAP = { external_id: 'id', name: 'title' }

/** The faults of a CSV source with these options besides the file of users, a line each. */
function faultsOf(source: object): string[] {
  const directory = { baseUrl: 'https://a.example', organizationId: 1, directoryId: 7, token: { env: 'T' } }
  const users = { path: 'users.csv', map: MAP }
  const { faults } = checkConfig({
    syncs: [{ name: 'a', source: { type: 'csv', users, ...source }, directory }],
  })
  return faults.map(({ path, message }) => `${path.slice(3).join('.')}: ${message}`)
}

test.each<[string, object]>([
  [
    'a file',
    { groups: { path: 'g.csv', map: GROUP_MAP }, members: { path: 'm.csv', map: { group: 'g', user: 'u' } } },
  ],
  ['a column', { groups: { column: 'teams', separator: ';', name: 'Team {teams}' } }],
  [
    'all that proves a file',
    {
      users: {
        path: ['a.csv', 'b-*.csv'],
        quote: null,
        delimiter: '\t',
        encoding: 'auto',
        trailer: { pattern: '^END (\\d+)$' },
        rows: true,
        sha256: true,
        maxAge: '2d',
        map: MAP,
      },
      badRows: 'refuse',
      settle: '2s',
      watch: true,
    },
  ],
])('groups and files: %s is accepted', (_, source) => {
  expect(faultsOf(source)).toEqual([])
})

test.each<[string, object]>([
  ['groups.path: is missing; it must be a path, or give column instead', { groups: { map: GROUP_MAP } }],
  ['groups.map: is missing; it must be a section with options', { groups: { path: 'g.csv' } }],
  ['groups.map: has no use beside column', { groups: { column: 'teams', map: GROUP_MAP } }],
  [
    'groups.separator: has no use without column',
    { groups: { path: 'g.csv', map: GROUP_MAP, separator: ';' } },
  ],
  [
    'groups.delimiter: must be one character other than a double quote, such as "," or ";"',
    { groups: { column: 'teams', delimiter: '--' } },
  ],
  ...['', '"', '\n'].map((delimiter): [string, object] => [
    'users.delimiter: must be one character other than a double quote, such as "," or ";"',
    { users: { path: 'u.csv', map: MAP, delimiter } },
  ]),
  ...['""', ' ', ''].map((quote): [string, object] => [
    'users.quote: must be one character other than a blank, or null for none',
    { users: { path: 'u.csv', map: MAP, quote } },
  ]),
  ['users.path: must not be empty', { users: { path: [], map: MAP } }],
  ['groups.separator: must not be empty', { groups: { column: 'teams', separator: '' } }],
  ['badRows: must be skip or refuse', { badRows: 'stop' }],
])('refused: %s', (fault, source) => {
  expect(faultsOf(source)).toEqual([fault])
})
