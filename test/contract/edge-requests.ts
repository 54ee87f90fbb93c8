import { type Endpoint, endpoints, MAX_ENTRIES, type Operation } from '../../src/api/contract/endpoints.ts'
import { FIXTURE } from '../support/fixture.ts'
import type { ApiRequest } from './api.ts'
import { MARKER } from './wide-fixture.ts'

type Refused = readonly [what: string, request: ApiRequest, status: number]

const WITHOUT_SCOPE = {
  ORG_READ: FIXTURE.writeOnlyToken,
  ORG: FIXTURE.readOnlyToken,
  USER_READ: FIXTURE.userWriteToken,
  USER: FIXTURE.userReadToken,
} as const

/** Requests of the operation that our service refuses, where the description states nothing or needs other tokens. */
export function refusedRequests(operation: Operation): Refused[] {
  const endpoint: Endpoint = endpoints[operation]
  const base = { ...subjectOf(operation), ...(endpoint.form && { json: goodBody(endpoint) }) }
  return [
    ...refusedAccess(endpoint),
    ...refusedIds(endpoint),
    ...refusedBodies(operation, endpoint),
    ...refusedQueries(operation, endpoint),
  ].map(([what, request, status]) => {
    const { json: _, ...bodiless } = base
    return [what, { ...('form' in request ? bodiless : base), ...request }, status]
  })
}

function subjectOf(operation: Operation): ApiRequest {
  return { externalId: operation.endsWith('Group') ? 'group 1' : 'user/1 ä' }
}

function goodBody({ form, path }: Endpoint): object {
  if (form?.list === undefined) return path.includes('/groups/') ? { name: 'x' } : {}
  return { [form.list]: [{ external_id: 'refused', name: 'x' }] }
}

function refusedAccess({ scope }: Endpoint): Refused[] {
  return [
    ['an expired token', { token: FIXTURE.expiredToken }, 401],
    ['another scheme', { token: null, headers: { authorization: `Bearer ${FIXTURE.token}` } }, 401],
    ['a token without the scope', { token: WITHOUT_SCOPE[scope] }, 403],
    ['no device id', { deviceId: null }, 400],
    ['a device id of 256 characters', { deviceId: 'd'.repeat(256) }, 400],
    ['headers of 17 KiB', { headers: { 'x-much': 'x'.repeat(17 * 1024) } }, 431],
  ]
}

/** Ids of the other organization, and ids that are none. */
function refusedIds({ path }: Endpoint): Refused[] {
  const foreign = {
    organizationId: FIXTURE.otherOrganizationId,
    directoryId: FIXTURE.otherDirectoryId,
    rawExternalId: encodeURIComponent(`theirs ${MARKER}`),
    subscriptionId: FIXTURE.otherSubscriptionId,
    groupId: FIXTURE.otherGroupId,
  } as const
  const names = (Object.keys(foreign) as (keyof typeof foreign)[]).filter((name) => {
    const param = name.replace('rawE', 'e').replace(/[A-Z]/, (letter) => `_${letter.toLowerCase()}`)
    return name === 'organizationId' || path.includes(`{${param}}`)
  })
  return names.flatMap((name): Refused[] => {
    const malformed = name === 'rawExternalId' ? [] : ['abc', '0', '01', '7.0', '99999999999999999999']
    return [
      [`${name} of another organization`, { [name]: foreign[name] }, 404],
      ...[...malformed, 'a%00b'].map((id): Refused => [`${name} ${id}`, { [name]: id }, 404]),
      [`${name} that is not UTF-8`, { [name]: '%E0%A4%A' }, 400],
      [`${name} of 10,000 characters`, { [name]: '9'.repeat(10_000) }, 414],
    ]
  })
}

function json(text: string): ApiRequest {
  return { form: text, headers: { 'content-type': 'application/json' } }
}

function refusedBodies(operation: Operation, { form }: Endpoint): Refused[] {
  if (form === undefined) return []
  const wrap = (fields: object) => ({ ...goodBody(endpoints[operation]), ...fields })
  const types = ['text/plain', 'multipart/form-data; boundary=x', 'application/xml', 'nonsense']
  return [
    ['JSON that is cut off', json('{"name":'), 400],
    ['JSON that is a list', json('[]'), 400],
    ['JSON that is a text', json('"name"'), 400],
    ['a form with a broken escape', { form: 'name=%E0%A4%A' }, 400],
    ['a form with a name that is not closed', { form: 'name=x&users[=x' }, 400],
    ['a form with one name in two ways', { form: 'name=x&name[]=x' }, 400],
    ['a form nested too deep', { form: `name${'[a]'.repeat(20)}=x` }, 400],
    ...types.map((type): Refused => [type, { form: 'x=x', headers: { 'content-type': type } }, 415]),
    ...(form.list === undefined ? [] : refusedLists(form.list)),
    ...Object.keys(form.fields.shape).map((name): Refused => {
      const fields = { [name]: {} }
      const entry = { external_id: 'refused', name: 'x', ...fields }
      return [
        `${name} an object`,
        { json: form.list === undefined ? wrap(fields) : { [form.list]: [entry] } },
        400,
      ]
    }),
  ]
}

function refusedLists(list: string): Refused[] {
  const many = Array.from({ length: MAX_ENTRIES + 1 }, (_, n) => ({ external_id: `refused-${n}`, name: 'x' }))
  return [
    ['no entries', { json: { [list]: [] } }, 400],
    ['no form at all', { form: '' }, 400],
    ['an entry that is a text', { form: `${list}[]=x` }, 400],
    ['101 entries', { json: { [list]: many } }, 400],
    ...(
      [
        ['external_id', '..'],
        ['external_id', 'x'.repeat(2049)],
        ['name', '  '],
        ['name', 'a\0b'],
      ] as const
    ).map(([field, value]): Refused => {
      const entry = { external_id: 'refused', name: 'x', [field]: value }
      return [`${field} ${value.slice(0, 3)}`, { json: { [list]: [entry] } }, 422]
    }),
  ]
}

const MALFORMED_QUERIES: Readonly<Partial<Record<Operation, readonly string[]>>> = {
  listSubscriptions: ['all=maybe', 'all[]=true'],
  listOrganizationGroups: ['q[]=x', 'q[a]=x', 'q=%E0%A4%A'],
  listEvents: [
    'filters=x',
    'filters[type][]=x',
    'filters[type=x',
    'filters[type]=%E0%A4%A',
    'filters[time_from]=yesterday',
    'filters[time_to]=2026-13-45',
    'filters[ip_from]=300.1.1.1',
    'filters[ip_to]=nowhere',
    'filters[group_id]=x',
    'filters[contact_id]=x',
  ],
}

function refusedQueries(operation: Operation, { paged }: Endpoint): Refused[] {
  const numbers = ['x', '1.5', '', '0x1', '1e2', 'NaN', '%E0%A4%A']
  const pages = ['page', 'per_page'].flatMap((name) => numbers.map((value) => `${name}=${value}`))
  const queries = [...(paged === undefined ? [] : pages), ...(MALFORMED_QUERIES[operation] ?? [])]
  return queries.map((query) => [query, { query: `?${query}` }, 400])
}

/** Queries that our service answers although the description does not say so, with the headers of their answers. */
export function acceptedRequests(
  operation: Operation,
): (readonly [query: string, request: ApiRequest, headers: object])[] {
  const { method, paged }: Endpoint = endpoints[operation]
  if (method !== 'GET') return []
  const sizes = [
    ['?per_page=101', '100'],
    ['?per_page=99999999999999999999999', '100'],
    ['?per_page=0', '20'],
    ['?per_page=-5', '20'],
    ['?page=0&per_page=3', '3'],
    ['?page=-1&per_page=3', '3'],
    ['?per_page=7&per_page=8', '8'],
  ] as const
  return [
    ['', { ...subjectOf(operation), deviceId: 'd'.repeat(255) }, {}],
    ...(paged === undefined ? [] : sizes.map(([query, size]) => [query, {}, { 'per-page': size }] as const)),
    ...(operation === 'listEvents'
      ? ([['?filters[ip_from]=0.0.0.0&filters[ip_to]=255.255.255.255', {}, {}]] as const)
      : []),
  ]
}
