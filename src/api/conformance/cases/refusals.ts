import { UNUSED_ID } from '../base.ts'
import { refusal } from '../checks.ts'
import type { ApiRequest, Param } from '../request.ts'
import { type Case, changed, type Row } from './case.ts'

const NAMES: Readonly<Record<Param, string>> = {
  organization_id: 'organization',
  directory_id: 'directory',
  external_id: 'external id',
  subscription_id: 'subscription',
  group_id: 'group',
}

/** Requests that the description does not permit: without a token, with unknown ids, without a required field. */
export function refusalCases(row: Row): readonly Case[] {
  const anyToken = { needsScope: false }
  const params = [...row.endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as Param)
  return [
    changed(row, 'no token', (base) => ({ ...base, token: null }), refusal, anyToken),
    changed(row, 'unknown token', (base) => ({ ...base, token: 'nobody-knows-this' }), refusal, anyToken),
    ...(['organization_id', ...params] as const).flatMap((param) => idCases(row, param)),
    ...requiredCases(row),
  ]
}

function idCases(row: Row, param: Param): Case[] {
  const idCase = (name: string, id: string) =>
    changed(row, name, (base) => ({ ...base, params: { ...base.params, [param]: id } }), refusal)
  const name = NAMES[param]
  if (param === 'external_id') return [idCase(`unknown ${name}`, 'dirsyncd-check-nobody')]
  return [idCase(`unknown ${name}`, UNUSED_ID), idCase(`${name} "abc"`, 'abc')]
}

/** A group without an external id is not tried: no cleanup could remove it. */
function requiredCases(row: Row): Case[] {
  const isRequired = row.endpoint.form?.fields.shape['name']?.safeParse(undefined).success === false
  if (!isRequired) return []
  return [changed(row, 'name missing', withoutName, refusal)]
}

function withoutName({ form = [], ...base }: ApiRequest): ApiRequest {
  return { ...base, form: form.filter(([key]) => !/\bname\b/.test(key)) }
}
