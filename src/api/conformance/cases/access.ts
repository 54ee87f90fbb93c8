import { decides, refuses } from '../checks.ts'
import { Unchecked } from '../verdict.ts'
import { type Case, changed, type Row } from './case.ts'

const SCOPE_NOT_SHOWN: ReadonlySet<number> = new Set([15, 16, 17, 18, 19])

export function accessCases(row: Row): readonly Case[] {
  const { endpoint } = row
  const anyToken = { needsScope: false }
  const withoutScope = SCOPE_NOT_SHOWN.has(endpoint.number) ? decides(403) : refuses(403)
  return [
    changed(row, 'no token', () => ({ token: null }), refuses(401), anyToken),
    changed(row, 'unknown token', () => ({ token: 'nobody-knows-this-token' }), refuses(401), anyToken),
    changed(
      row,
      'expired token',
      ({ tested }) => ({ token: given(tested.tokens?.expired, 'no expired token was given') }),
      refuses(401),
      anyToken,
    ),
    changed(
      row,
      'another scheme',
      ({ tested }) => ({ token: null, headers: { authorization: `Bearer ${tested.token}` } }),
      decides(401),
      anyToken,
    ),
    changed(
      row,
      'wrong scope',
      ({ tested }) => ({
        token: given(tested.tokens?.without?.[endpoint.scope], 'no token without the scope was given'),
      }),
      withoutScope,
      anyToken,
    ),
    changed(row, 'no device id', () => ({ deviceId: null }), decides(400)),
    changed(row, 'device id of 256 characters', () => ({ deviceId: 'd'.repeat(256) }), decides(400)),
    changed(
      row,
      'headers of 17 KiB',
      () => ({ headers: { 'x-much': 'x'.repeat(17 * 1024) } }),
      decides(431),
      {
        mayClose: true,
      },
    ),
    ...(endpoint.method === 'GET'
      ? [changed(row, 'device id of 255 characters', () => ({ deviceId: 'd'.repeat(255) }), decides(200))]
      : []),
  ]
}

function given<T>(value: T | undefined, reason: string): T {
  if (value === undefined) throw new Unchecked(reason)
  return value
}
