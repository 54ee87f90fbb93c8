import type { Protection } from '../protection.ts'

const ADDRESSES = 'integration/source-ldap-addresses.test.ts'
const JUDGEMENT = 'unit/plan/server.test.ts'
const POSITION = 'integration/source-ldap-position.test.ts'
const ORDER = 'unit/directory/position.test.ts'
const VECTOR = 'unit/source/ldap/position/up-to-date-vector.test.ts'
const VENDORS = 'unit/source/ldap/position/vendors.test.ts'
const CONTEXTS = 'unit/source/ldap/position/naming-contexts.test.ts'

/** Which server was read, and how new its data is. */
export const SERVERS: readonly Protection[] = [
  // Reading the position.
  {
    name: 'server-that-changes-during-a-read-is-incomplete',
    file: 'source/ldap/position/position.ts',
    find: 'if (change !== undefined) throw changed(connection, change)',
    replace: `if (change?.key === '') throw changed(connection, change)`,
    test: POSITION,
    only: 'is an incomplete read',
  },
  {
    name: 'server-that-shows-its-position-only-once-is-incomplete',
    file: 'source/ldap/position/position.ts',
    find: 'if (before.position === after.position) return undefined',
    replace: 'if (before.position !== after.position) return undefined',
    test: POSITION,
    only: 'is an incomplete read',
  },
  {
    name: 'server-that-refuses-the-question-is-read',
    file: 'source/ldap/position/ask.ts',
    find: 'if (isOutage(code)) throw busy(connection, code)',
    replace: 'if (code !== SUCCESS) throw busy(connection, code)',
    test: POSITION,
    only: 'refuses the question',
  },
  {
    name: 'server-that-is-busy-does-not-hide-its-position',
    file: 'source/ldap/position/ask.ts',
    find: 'if (isOutage(code)) throw busy(connection, code)',
    replace: 'if (isOutage(code) && code < 0) throw busy(connection, code)',
    test: POSITION,
    only: 'cannot answer',
  },
  {
    name: 'server-position-of-a-part-of-the-contexts-is-none',
    file: 'source/ldap/position/server-state.ts',
    find: 'if (origins === undefined) return undefined',
    replace: 'if (origins === undefined) continue',
    test: VENDORS,
  },
  {
    name: 'server-context-is-the-innermost-that-holds-the-base',
    file: 'source/ldap/position/naming-contexts.ts',
    find: 'b.length - a.length',
    replace: 'a.length - b.length',
    test: CONTEXTS,
  },
  {
    name: 'server-with-a-hidden-vector-has-no-position',
    file: 'source/ldap/position/active-directory.ts',
    find: `const isAlone = lookup('msDS-masteredBy').length === 1`,
    replace: `const isAlone = lookup('msDS-masteredBy').length >= 0`,
    test: VENDORS,
  },
  {
    name: 'server-vector-that-is-cut-is-none',
    file: 'source/ldap/position/up-to-date-vector.ts',
    find: 'bytes.length !== HEADER + count * size',
    replace: 'bytes.length > HEADER + count * size',
    test: VECTOR,
  },
  {
    name: 'server-unsigned-change-number-is-minus-one',
    file: 'source/ldap/position/ds389.ts',
    find: 'BigInt.asIntN(64, BigInt(value))',
    replace: 'BigInt.asUintN(64, BigInt(value))',
    test: VENDORS,
  },
  // Which server is asked.
  {
    name: 'server-of-the-last-good-read-goes-first',
    file: 'source/ldap/connection/servers.ts',
    find: 'url !== preferred.url ? 2 : address !== preferred.address ? 1 : 0',
    replace: 'url !== preferred.url ? 2 : address !== preferred.address ? 1 : 1',
    test: ADDRESSES,
  },
  {
    name: 'server-next-address-of-a-name-is-tried',
    file: 'source/ldap/connection/addresses.ts',
    find: 'return [...new Set(found)].map(',
    replace: 'return [...new Set(found)].slice(0, 1).map(',
    test: ADDRESSES,
  },
  {
    name: 'server-two-addresses-of-one-host-may-be-one-server',
    file: 'source/ldap/connection/addresses.ts',
    find: 'const [most = []] = families.toSorted((a, b) => b.length - a.length)',
    replace: 'const most = families.flat()',
    test: ADDRESSES,
  },
  {
    name: 'server-names-are-resolved-within-bounds',
    file: 'source/ldap/connection/addresses.ts',
    find: 'if (signal.aborted) throw interruption',
    replace: 'if (signal.aborted && ms < 0) throw interruption',
    test: ADDRESSES,
    only: 'nobody resolves in time',
  },
  {
    name: 'server-that-is-not-synchronized-is-passed-over',
    file: 'source/ldap/connection/root-dse.ts',
    find: `if (said?.includes('FALSE') !== true) return`,
    replace: `if (said?.includes('FALSE') !== false) return`,
    test: ADDRESSES,
    only: 'has not taken over everything',
  },
  // Comparing and judging.
  {
    name: 'server-position-of-another-database-is-incomparable',
    file: 'directory/position.ts',
    find: '.find((part) => !databases.includes(part))',
    replace: '.find((part) => databases.length < 0 && !databases.includes(part))',
    test: ORDER,
  },
  {
    name: 'server-with-other-contexts-is-incomparable',
    file: 'directory/position.ts',
    find: 'const gone = before.isDisjointFrom(now) ? new Set<string>() : before.difference(now)',
    replace: 'const gone = before.difference(now)',
    test: ORDER,
  },
  {
    name: 'server-position-without-an-origin-lacks-it',
    file: 'directory/position.ts',
    find: 'if (other === undefined || isSmaller(other, value))',
    replace: 'if (other !== undefined && isSmaller(other, value))',
    test: ORDER,
  },
  {
    name: 'server-change-numbers-are-numbers',
    file: 'directory/position.ts',
    find: 'return value.length === other.length ? value < other : value.length < other.length',
    replace: 'return value < other',
    test: ORDER,
  },
  {
    name: 'server-change-number-that-falls-is-noticed',
    file: 'directory/position.ts',
    find: 'BigInt(seen) >= BigInt(known)',
    replace: 'BigInt(seen) !== BigInt(known)',
    test: ORDER,
  },
  {
    name: 'server-that-is-older-changes-nothing',
    file: 'plan/server.ts',
    find: `if (order === 'older') {`,
    replace: `if (order === 'older' && server === '') {`,
    test: JUDGEMENT,
  },
  {
    name: 'server-that-hides-its-position-does-not-count-as-new',
    file: 'plan/server.ts',
    find: 'if (seen.position === undefined) {',
    replace: `if (seen.position === undefined && server !== '') return undefined\n  if (seen.position === undefined) {`,
    test: JUDGEMENT,
  },
  {
    name: 'server-that-lags-does-not-become-the-last-good-one',
    file: 'plan/server.ts',
    find: 'trouble: { token, needsPerson }, next: kept,',
    replace: 'trouble: { token, needsPerson }, next: remember(seen),',
    test: JUDGEMENT,
  },
  {
    name: 'server-is-accepted-only-when-the-run-completes',
    file: 'plan/server.ts',
    find: 'trouble: undefined, next: remember(seen), meanwhile: memory }',
    replace: 'trouble: undefined, next: remember(seen), meanwhile: remember(seen) }',
    test: JUDGEMENT,
  },
  {
    name: 'server-that-lags-for-a-day-needs-a-person',
    file: 'plan/server.ts',
    find: 'const since = sinceOf(memory, now)',
    replace: 'const since = sinceOf({ ...memory, notNewerSince: undefined }, now)',
    test: JUDGEMENT,
  },
  {
    name: 'server-one-of-several-confirms-its-deletes',
    file: 'plan/server.ts',
    find: 'if (!isRecent && !hidesServers && seen.addresses <= 1)',
    replace: 'if (!isRecent)',
    test: JUDGEMENT,
  },
  {
    name: 'server-that-was-filled-anew-confirms-its-deletes-for-a-while',
    file: 'plan/server.ts',
    find: '...(isRecent && { changedAt })',
    replace: '...(isRecent && confirmAfterMs < 0 && { changedAt })',
    test: JUDGEMENT,
  },
]
