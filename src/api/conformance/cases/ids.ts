import { UNUSED_ID } from '../base.ts'
import { refuses } from '../checks.ts'
import type { Param } from '../tested-service.ts'
import { Unchecked } from '../verdict.ts'
import { type Case, changed, type Row } from './case.ts'

const NAMES: Readonly<Record<Param, string>> = {
  organization_id: 'organization',
  directory_id: 'directory',
  external_id: 'external id',
  subscription_id: 'subscription',
  group_id: 'group',
}

const MALFORMED_IDS = ['abc', '0', '01', '7.0', '99999999999999999999']
const LONG_ID_LENGTH = 10_000

/** Ids in the path: unknown, of another organization, malformed, too long. */
export function idCases(row: Row): readonly Case[] {
  const names = [...row.endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as Param)
  return (['organization_id', ...names] as const).flatMap((param) => paramCases(row, param))
}

function paramCases(row: Row, param: Param): Case[] {
  const name = NAMES[param]
  const unknown = param === 'external_id' ? 'dirsyncd-check-nobody' : UNUSED_ID
  const malformed = param === 'external_id' ? [] : MALFORMED_IDS
  return [
    changed(row, `unknown ${name}`, () => ({ params: { [param]: unknown } }), refuses(404)),
    changed(
      row,
      `${name} of another organization`,
      ({ tested }) => {
        const id = tested.foreign?.[param]
        if (id === undefined) throw new Unchecked('no ids of another organization were given')
        return { params: { [param]: id } }
      },
      refuses(404),
    ),
    ...malformed.map((id) =>
      changed(row, `${name} "${id}"`, () => ({ params: { [param]: id } }), refuses(404)),
    ),
    changed(row, `${name} with a NUL`, () => ({ rawParams: { [param]: 'a%00b' } }), refuses(404)),
    changed(
      row,
      `${name} that is no percent-encoded UTF-8`,
      () => ({ rawParams: { [param]: '%E0%A4%A' } }),
      refuses(400),
    ),
    changed(
      row,
      `${name} of ${LONG_ID_LENGTH.toLocaleString('en-US')} characters`,
      () => ({ params: { [param]: '9'.repeat(LONG_ID_LENGTH) } }),
      refuses(414),
      { mayClose: true },
    ),
  ]
}
