import type { BreachSummary } from '../../src/core/plan/decide.ts'

/** Blocks of a plan and of single changes, as runs have them. */
export const MAX_DELETES = {
  code: 'max-deletes-users',
  params: { kind: 'users', deletes: 9, of: 100, leftFilter: 0, newIds: 0, limit: 5 },
  changes: 9,
} as const satisfies BreachSummary

export const MAX_DELETE_PERCENT = {
  ...MAX_DELETES,
  code: 'max-delete-percent-users',
} as const satisfies BreachSummary

export const MAX_MOVED_IDS = {
  code: 'max-moved-ids',
  params: { users: 3, limit: 1 },
  changes: 3,
} as const satisfies BreachSummary

export const CONTAINER_EMPTIED = {
  code: 'container-emptied',
  params: { kind: 'user', container: 'ou=sales', absent: 20, leftFilter: 0, wasFound: false },
  changes: 20,
  waitsFor: 'person',
} as const satisfies BreachSummary

export const GROUP_EMPTIED = {
  code: 'group-emptied',
  params: { how: 'no-members', group: 'Sales', had: 9, reason: null },
  changes: 1,
  waitsFor: 'person',
} as const satisfies BreachSummary

export const REBORN = {
  code: 'reborn',
  params: { kind: 'user', entries: 19 },
  changes: 19,
  waitsFor: 'better-read',
} as const satisfies BreachSummary

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
  changes: 1,
  waitsFor: 'person',
} as const satisfies BreachSummary
