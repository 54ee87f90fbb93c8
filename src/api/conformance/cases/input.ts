import { type Form, MAX_ENTRIES } from '../../contract/endpoints.ts'
import { decides, type Expectation, refuses } from '../checks.ts'
import { type ApiRequest, FORM, JSON_TYPE } from '../request.ts'
import type { Probing } from '../probing.ts'
import { Unchecked } from '../verdict.ts'
import { type Case, changed, type Row } from './case.ts'

const OVERSIZED = 17 * 1024 * 1024

const BROKEN_BODIES: readonly (readonly [name: string, type: string, text: string])[] = [
  ['JSON that is cut off', JSON_TYPE, '{"name":'],
  ['JSON that is a list', JSON_TYPE, '[]'],
  ['JSON that is a text', JSON_TYPE, '"name"'],
  ['a form with a broken escape', FORM, 'name=%E0%A4%A'],
  ['a form with a name that is not closed', FORM, 'name=x&users[=x'],
  ['a form with one name in two ways', FORM, 'name=x&name[]=x'],
  ['a form nested too deep', FORM, `name${'[a]'.repeat(20)}=x`],
]

const WRONG_TYPES = ['text/plain', 'multipart/form-data; boundary=x', 'application/xml', 'nonsense']

/** Bodies that cannot be parsed, and form fields that do not fit the contract. */
export function inputCases(row: Row): readonly Case[] {
  const { form } = row.endpoint
  if (form === undefined) return []
  return [
    ...BROKEN_BODIES.map(([name, type, text]) =>
      changed(row, name, () => ({ body: { type, text } }), decides(400)),
    ),
    ...WRONG_TYPES.map((type) =>
      changed(row, `a body of type ${type}`, () => ({ body: { type, text: 'x=x' } }), decides(415)),
    ),
    changed(
      row,
      'a body of 17 MiB',
      () => ({ body: { type: FORM, text: `x=${'x'.repeat(OVERSIZED)}` } }),
      decides(413),
      { mayClose: true },
    ),
    ...(form.list === undefined ? [] : listCases(row, form.list)),
    ...fieldCases(row, form),
  ]
}

function listCases(row: Row, list: string): Case[] {
  const empty = { type: JSON_TYPE, text: JSON.stringify({ [list]: [] }) }
  return [
    changed(row, 'no entries', () => ({ body: empty }), decides(400)),
    changed(row, 'no form at all', () => ({ body: { type: FORM, text: '' } }), decides(400)),
    entryCase(row, 'an entry that is a text', `${list}[]=x`, decides(400)),
    // A group without its fields is a case below: it needs them.
    ...(row.operation === 'createUsers'
      ? [
          entryCase(row, 'an entry with an unknown field only', `${list}[][exernal_id]=x`, decides(422)),
          entryCase(row, 'an entry with a field without a name', `${list}[][]=1`, decides(422)),
        ]
      : []),
    changed(
      row,
      `${MAX_ENTRIES + 1} entries`,
      (probing) => {
        const ids = Array.from({ length: MAX_ENTRIES + 1 }, () => probing.newId())
        const entries = ids.map((id) => ({ external_id: id, name: 'Check of the API' }))
        return { body: { type: JSON_TYPE, text: JSON.stringify({ [list]: entries }) }, creates: ids }
      },
      decides(400),
    ),
  ]
}

function entryCase(row: Row, name: string, text: string, expectation: Expectation): Case {
  return changed(
    row,
    name,
    (probing) => {
      requireExpendable(probing)
      return { body: { type: FORM, text } }
    },
    expectation,
  )
}

function fieldCases(row: Row, form: Form): Case[] {
  return Object.entries(form.fields.shape).flatMap(([name, schema]) => {
    const takes = (value: unknown) => schema.safeParse(value).success
    const cases = [fieldCase(row, name, 'an object', { json: {} }, decides(400))]
    if (!takes(['x'])) cases.push(fieldCase(row, name, 'a list', { json: ['x'] }, decides(400)))
    if (!takes(undefined)) cases.push(fieldCase(row, name, 'missing', { json: undefined }, refuses(400)))
    if (!takes('maybe') && !takes(['x'])) {
      cases.push(fieldCase(row, name, '"maybe"', { json: 'maybe' }, decides(400)))
    }
    return [...cases, ...valueCases(row, name)]
  })
}

const LONG_TEXT = 'x'.repeat(2049)

/** Forbidden values of the right type. The description forbids only the e-mail's domain. */
const NOT_ALLOWED: Readonly<Partial<Record<string, readonly (readonly [name: string, value: string])[]>>> = {
  external_id: [
    ['empty', ''],
    ['"."', '.'],
    ['".."', '..'],
    ['with a NUL', 'a\0b'],
    ['of 2,049 bytes', LONG_TEXT],
  ],
  email: [
    ['without an @', 'nobody'],
    ['outside the allowed domains', 'nobody@dirsyncd-check.invalid'],
    ['with a NUL', 'a\0b@dirsyncd-check.invalid'],
  ],
  name: [
    ['blank', '  '],
    ['with a NUL', 'a\0b'],
    ['of 2,049 bytes', LONG_TEXT],
  ],
  employee_id: [
    ['with a NUL', 'a\0b'],
    ['of 2,049 bytes', LONG_TEXT],
  ],
  RelayState: [['of 81 bytes', 'x'.repeat(81)]],
}

function valueCases(row: Row, name: string): Case[] {
  return (NOT_ALLOWED[name] ?? []).map(([what, value]) =>
    fieldCase(row, name, what, { json: value }, decides(422)),
  )
}

/** One wrong field. The form is sent as JSON, because JSON can hold any type. */
function fieldCase(
  row: Row,
  field: string,
  what: string,
  { json }: { readonly json: unknown },
  expectation: Expectation,
): Case {
  const list = row.endpoint.form?.list
  return changed(
    row,
    `${field} ${what}`,
    (probing) => {
      if (list === undefined) return jsonRequest({ ...otherFields(row, field), [field]: json })
      if (field === 'external_id') requireExpendable(probing)
      const id = probing.newId()
      const entry = { external_id: id, name: 'Check of the API', [field]: json }
      return jsonRequest({ [list]: [entry] }, field === 'external_id' ? [] : [id])
    },
    expectation,
  )
}

/** For requests that would create an entry with an unknown id, which no cleanup could delete. */
function requireExpendable({ tested }: Probing): void {
  if (tested.expendable !== true) {
    throw new Unchecked('if the service accepted this, the created entry could not be removed')
  }
}

function jsonRequest(body: object, creates: readonly string[] = []): ApiRequest {
  return { body: { type: JSON_TYPE, text: JSON.stringify(body) }, creates }
}

function otherFields({ endpoint }: Row, field: string): object {
  const required = endpoint.form?.fields.shape['name']?.safeParse(undefined).success === false
  return required && field !== 'name' ? { name: 'Check of the API' } : {}
}
