import type { BlockReason } from '../../src/core/block.ts'

/** Blocks of a plan and of single changes, as runs have them. */
export const MAX_DELETES = {
  code: 'max-deletes-users',
  params: { kind: 'users', deletes: 9, of: 100, leftFilter: 0, newIds: 0, limit: 5 },
} as const satisfies BlockReason

export const MAX_DELETE_PERCENT = {
  ...MAX_DELETES,
  code: 'max-delete-percent-users',
} as const satisfies BlockReason

export const MAX_MOVED_IDS = {
  code: 'max-moved-ids',
  params: { users: 3, limit: 1 },
} as const satisfies BlockReason

export const CONTAINER_EMPTIED = {
  code: 'container-emptied',
  params: { kind: 'user', container: 'ou=sales', absent: 20, leftFilter: 0, isEmpty: true },
} as const satisfies BlockReason

export const GROUP_EMPTIED = {
  code: 'group-emptied',
  params: {
    how: 'no-members',
    groups: { examples: ['Sales'], total: 1 },
    lists: { examples: ['cn=sales'], total: 1 },
    attributes: [],
    removals: 9,
  },
} as const satisfies BlockReason

export const RECENTLY_DELETED = { code: 'recently-deleted', params: {} } as const satisfies BlockReason

export const SERVER_NOT_NEWER = {
  code: 'server-not-newer',
  params: {
    how: 'older',
    server: 'ldap://dc2',
    last: 'ldap://dc1',
    difference: { key: 'dc1', known: '7', seen: '5' },
    since: '2026-11-21T07:00:00.000Z',
    until: '2026-11-22T07:00:00.000Z',
    needsApproval: true,
  },
} as const satisfies BlockReason
