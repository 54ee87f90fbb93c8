import { randomUUID } from 'node:crypto'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Endpoint, endpoints, type Operation, PREFIX } from '../../src/api/contract/endpoints.ts'
import { PROBLEMS } from '../../src/service/http/problem.ts'
import { FIXTURE } from '../support/fixture.ts'
import { type RunningService, startForTest } from '../support/service.ts'
import { describeService } from './with-service.ts'

const OPERATIONS = Object.keys(endpoints) as Operation[]

interface Sample {
  /** What has to be there before; its external id goes into the path. */
  readonly after?: 'createUsers' | 'createGroups'
  readonly query?: string
  readonly json?: () => Record<string, unknown>
}

/** For each operation a request that succeeds, with nothing that the document does not have. */
const SAMPLES: { readonly [O in Operation]: Sample } = {
  listDirectories: {},
  getDirectory: {},
  listUsers: { after: 'createUsers', query: '?page=1&per_page=1' },
  createUsers: {
    json: () => ({
      users: [{ external_id: randomUUID(), email: 'a@example.org', name: 'A B', employee_id: '7' }],
    }),
  },
  getUser: { after: 'createUsers' },
  updateUser: { after: 'createUsers', json: () => ({ name: 'Ada Lovelace', email: 'ada@example.org' }) },
  deleteUser: { after: 'createUsers' },
  listGroups: { after: 'createGroups' },
  createGroups: {
    json: () => ({ groups: [{ external_id: randomUUID(), name: 'G', external_member_ids: ['a', 'b'] }] }),
  },
  getGroup: { after: 'createGroups' },
  deleteGroup: { after: 'createGroups' },
  updateGroup: { after: 'createGroups', json: () => ({ name: 'H', external_member_ids: ['c', 'd'] }) },
  listSubscriptions: { query: '?all=true' },
  getSubscription: {},
  updateSubscription: { json: () => ({ favorite: false, name: 'Atlas', position: 4 }) },
  createAssertion: { json: () => ({ RelayState: '/inbox' }) },
  readCredentials: {},
  resetPassword: {},
  listEvents: { query: '?filters[type]=update_policy,create_directory_user&filters[time_from]=2020-01-01' },
  listOrganizationGroups: { query: '?q=teams' },
  getOrganizationGroup: {},
}

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: unknown
}

interface Ask {
  readonly path?: Readonly<Record<string, string | number>>
  readonly query?: string | undefined
  readonly body?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
}

const FORM = 'application/x-www-form-urlencoded'

/** The document as the service serves it, with what it takes to compare answers with it. */
class Documented {
  readonly document: any
  readonly #ajv: Ajv2020
  readonly #compiled = new Map<string, ValidateFunction>()

  constructor(document: unknown) {
    this.document = document
    this.#ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true })
    addFormats.default(this.#ajv)
    this.#ajv.addSchema(onlyDocumented(document), 'api')
  }

  operation(operation: Operation): any {
    const { path, method } = endpoints[operation]
    return this.document.paths[`${PREFIX}${path}`]?.[method.toLowerCase()]
  }

  /** Fails unless the value is as the schema at this place of the document says; with no field that is not there. */
  expectMatch(place: readonly string[], value: unknown): void {
    const pointer = place
      .map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1'))
      .map(encodeURIComponent)
    const uri = `api#/${pointer.join('/')}`
    const validate = this.#compiled.get(uri) ?? this.#ajv.compile({ $ref: uri })
    this.#compiled.set(uri, validate)
    validate(value)
    expect({ value, errors: validate.errors ?? [] }).toEqual({ value, errors: [] })
  }

  /** Fails unless the document says that the operation answers this. */
  expectAnswer(operation: Operation, { status, headers, body }: Answer): void {
    const place = this.#resolve(['paths', ...placeOf(operation), 'responses', String(status)])
    const described = this.#at(place)
    expect(described, `${operation} answers ${status}, which is not in the document`).toBeDefined()
    const [type] = (headers.get('content-type') ?? '').split(';')
    if (described.content === undefined) {
      expect(body).toBeUndefined()
    } else {
      expect(Object.keys(described.content)).toContain(type)
      this.expectMatch([...place, 'content', type!, 'schema'], body)
    }
    for (const name of Object.keys(described.headers ?? {})) {
      const text = headers.get(name)
      if (text === null && name === 'link') continue
      const { type: kind } = this.#at(this.#resolve([...place, 'headers', name])).schema
      expect(text, `the header ${name}`).toMatch(kind === 'integer' ? /^\d+$/ : /./)
    }
  }

  #resolve(place: readonly string[]): readonly string[] {
    const reference = this.#at(place)?.$ref as string | undefined
    return reference === undefined ? place : reference.slice(2).split('/')
  }

  #at(place: readonly string[]): any {
    return place.reduce((value, part) => value?.[part], this.document)
  }
}

function placeOf(operation: Operation): string[] {
  const { path, method } = endpoints[operation]
  return [`${PREFIX}${path}`, method.toLowerCase()]
}

function bodyPlace(operation: Operation): string[] {
  return ['paths', ...placeOf(operation), 'requestBody', 'content', 'application/json', 'schema']
}

/** The document for a reader who takes every field that its schemas do not name for a fault. */
function onlyDocumented(document: any): object {
  const schemas = closed(document.components.schemas) as object
  return { ...document, components: { ...document.components, schemas } }
}

function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed)
  if (typeof value !== 'object' || value === null) return value
  const copy = Object.fromEntries(Object.entries(value).map(([key, part]) => [key, closed(part)]))
  // A description may be there in any language.
  const open = copy['type'] !== 'object' || Object.keys(copy['properties'] ?? {}).join() === 'en'
  return { ...(!open && { additionalProperties: false }), ...copy }
}

/** Sends what the document says the request looks like: path, method, parameters and media types are taken from it. */
async function ask(service: RunningService, operation: Operation, request: Ask = {}): Promise<Answer> {
  const [path = '', method = ''] = placeOf(operation)
  const values: Record<string, string | number> = {
    organization_id: FIXTURE.organizationId,
    directory_id: FIXTURE.directoryId,
    external_id: 'nobody',
    subscription_id: FIXTURE.samlSubscriptionId,
    group_id: FIXTURE.groupId,
    ...request.path,
  }
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name]!))
  const response = await fetch(`${service.baseUrl}${filled}${request.query ?? ''}`, {
    method: method.toUpperCase(),
    headers: { authorization: `token ${FIXTURE.token}`, 'x-device-id': 'reader', ...request.headers },
    ...(request.body !== undefined && { body: request.body }),
  })
  const text = await response.text()
  const body: unknown = text === '' ? undefined : JSON.parse(text)
  return { status: response.status, headers: response.headers, body }
}

/** What a sample needs, made through the API. */
async function prepare(service: RunningService, { after, query }: Sample): Promise<Ask> {
  if (after === undefined) return { query }
  const externalId = randomUUID()
  const list = after === 'createUsers' ? 'users' : 'groups'
  const body = JSON.stringify({ [list]: [{ external_id: externalId, name: 'Somebody' }] })
  const created = await ask(service, after, { body, headers: { 'content-type': 'application/json' } })
  expect(created.status).toBe(201)
  return { query, path: { external_id: externalId } }
}

/** The same values as a form, with the names that the description uses. */
function formOf(json: Record<string, unknown>): [string, string][] {
  return Object.entries(json).flatMap(([name, value]): [string, string][] => {
    if (!Array.isArray(value)) return [[name, String(value)]]
    return value.flatMap((item: unknown): [string, string][] => {
      if (typeof item === 'string') return [[`${name}[]`, item]]
      return formOf(item as Record<string, unknown>).map(([field, text]) => {
        return [`${name}[]${field.replace(/^\w+/, '[$&]')}`, text]
      })
    })
  })
}

async function readDocument({ baseUrl }: Pick<RunningService, 'baseUrl'>): Promise<any> {
  const response = await fetch(`${baseUrl}/openapi.json`)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toMatch(/^application\/json/)
  return response.json()
}

describeService('the OpenAPI document', {}, (service) => {
  let documented: Documented

  beforeAll(async () => {
    documented = new Documented(await readDocument(service()))
  })

  test('is valid OpenAPI 3.1', async () => {
    const validator = new Validator()
    expect(await validator.validate(structuredClone(documented.document))).toEqual({ valid: true })
    expect(validator.version).toBe('3.1')
  })

  test('has the rows of the contract and no others', () => {
    const rows = OPERATIONS.map((operation) => {
      const { method, path }: Endpoint = endpoints[operation]
      return `${operation} ${method} ${PREFIX}${path}`
    })
    const listed = Object.entries<object>(documented.document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(
        ([method, { operationId }]) => `${operationId} ${method.toUpperCase()} ${path}`,
      ),
    )
    expect(rows).toHaveLength(21)
    expect(listed.toSorted()).toEqual(rows.toSorted())
  })

  test('names every problem of the service', () => {
    const text =
      JSON.stringify(documented.document.paths) + JSON.stringify(documented.document.components.responses)
    const missing = Object.keys(PROBLEMS).filter(
      (code) => !text.includes(`urn:access-management:problem:${code}"`),
    )
    expect(missing).toEqual([])
  })

  test.each(OPERATIONS)('tells the scope, the device and the page of %s', (operation) => {
    const { scope, paged }: Endpoint = endpoints[operation]
    const described = documented.operation(operation)
    expect(described.security).toEqual([{ token: [scope] }])
    expect(described.description).toContain(`\`${scope}\``)
    const names = described.parameters.map((one: any) => one.name ?? one.$ref.split('/').at(-1))
    expect(names).toContain('X-Device-Id')
    expect(names.includes('per_page')).toBe(paged !== undefined)
  })

  test.each(OPERATIONS)('shows what %s answers', async (operation) => {
    const sample = SAMPLES[operation]
    const json = sample.json?.()
    if (json !== undefined) documented.expectMatch(bodyPlace(operation), json)
    const answer = await ask(service(), operation, {
      ...(await prepare(service(), sample)),
      ...(json !== undefined && {
        body: JSON.stringify(json),
        headers: { 'content-type': 'application/json' },
      }),
    })
    expect(answer.status).toBe(endpoints[operation].status)
    documented.expectAnswer(operation, answer)
  })

  const withForm = OPERATIONS.filter((operation) => SAMPLES[operation].json !== undefined)
  test.each(withForm)('shows the form of %s', async (operation) => {
    const sample = SAMPLES[operation]
    const fields = formOf(sample.json!())
    const { schema } = documented.operation(operation).requestBody.content[FORM]
    for (const field of Object.values(schema.properties)) expect(field).toHaveProperty('type')
    expect([...new Set(fields.map(([name]) => name))]).toEqual(
      expect.arrayContaining(Object.keys(schema.properties)),
    )
    const answer = await ask(service(), operation, {
      ...(await prepare(service(), sample)),
      body: new URLSearchParams(fields).toString(),
      headers: { 'content-type': FORM },
    })
    expect(answer.status).toBe(endpoints[operation].status)
    documented.expectAnswer(operation, answer)
  })

  test('shows subscriptions of all kinds, and the whole history', async () => {
    documented.expectAnswer('listSubscriptions', await ask(service(), 'listSubscriptions'))
    const path = { subscription_id: FIXTURE.vaultItemId }
    documented.expectAnswer('readCredentials', await ask(service(), 'readCredentials', { path }))
    const events = await ask(service(), 'listEvents', { query: '?per_page=100' })
    expect((events.body as unknown[]).length).toBeGreaterThan(5)
    documented.expectAnswer('listEvents', events)
  })

  const json = { 'content-type': 'application/json' }
  const writing = OPERATIONS.filter((operation) => endpoints[operation].method !== 'GET')
  const wrong: [string, number, readonly Operation[], Ask][] = [
    ['no token', 401, OPERATIONS, { headers: { authorization: '' } }],
    ['no device id', 400, OPERATIONS, { headers: { 'x-device-id': '' } }],
    [
      "somebody else's organization",
      404,
      OPERATIONS,
      { path: { organization_id: FIXTURE.otherOrganizationId } },
    ],
    ['a path that is too long', 414, ['getUser'], { path: { external_id: 'x'.repeat(10_000) } }],
    ['headers that are too large', 431, ['listUsers'], { headers: { 'x-large': 'x'.repeat(20_000) } }],
    ['a body that is too large', 413, ['createUsers'], { headers: json, body: `"${'x'.repeat(1_100_000)}"` }],
    ['a body of another type', 415, writing, { headers: { 'content-type': 'text/plain' }, body: 'x' }],
    ['half a body', 400, withForm, { headers: json, body: '{' }],
    ['a page that is no number', 400, listing(), { query: '?page=x' }],
    ['a filter that is no address', 400, ['listEvents'], { query: '?filters[ip_from]=x' }],
    [
      'a range that holds nothing',
      422,
      ['listEvents'],
      { query: '?filters[time_from]=2026-02-01&filters[time_to]=2026-01-01' },
    ],
    [
      'an e-mail address elsewhere',
      422,
      ['createUsers'],
      { headers: json, body: '{"users":[{"email":"a@elsewhere.example"}]}' },
    ],
    [
      'one id twice',
      409,
      ['createUsers', 'createGroups'],
      {
        headers: json,
        body: JSON.stringify({
          users: [{ external_id: 'twice' }, { external_id: 'twice' }],
          groups: [1, 2].map(() => ({ external_id: 'twice', name: 'G' })),
        }),
      },
    ],
    [
      'a subscription that does not permit it',
      403,
      ['readCredentials', 'resetPassword'],
      { path: { subscription_id: FIXTURE.lockedSubscriptionId } },
    ],
    [
      'a subscription that cannot do it',
      409,
      ['createAssertion'],
      { path: { subscription_id: FIXTURE.lockedSubscriptionId } },
    ],
  ]
  test.each(wrong)('shows what comes back for %s: %i', async (_name, status, operations, request) => {
    for (const operation of operations) {
      const answer = await ask(service(), operation, request)
      expect({ operation, status: answer.status }).toEqual({ operation, status })
      documented.expectAnswer(operation, answer)
      documented.expectMatch(['components', 'schemas', 'Problem'], answer.body)
    }
  })

  test('shows what comes back without the scope: 403', async () => {
    for (const operation of OPERATIONS) {
      const token = endpoints[operation].scope === 'ORG' ? FIXTURE.readOnlyToken : FIXTURE.writeOnlyToken
      const answer = await ask(service(), operation, { headers: { authorization: `token ${token}` } })
      expect({ operation, status: answer.status }).toEqual({ operation, status: 403 })
      documented.expectAnswer(operation, answer)
    }
  })
})

function listing(): Operation[] {
  return OPERATIONS.filter((operation) => (endpoints[operation] as Endpoint).paged !== undefined)
}

describe('the documentation', () => {
  test('names the address that was asked, or the one that the service is known by', async () => {
    const running = await startForTest({})
    expect((await readDocument(running)).servers).toEqual([{ url: running.baseUrl }])
    await running.close()
    const known = await startForTest({ publicUrl: 'https://access.example.org/' })
    expect((await readDocument(known)).servers).toEqual([{ url: 'https://access.example.org' }])
  })

  test.each([
    ['429', '429=1'],
    ['500', '500=1'],
  ])('shows what comes back when everything is answered with %s', async (status, faults) => {
    const running = await startForTest({ faults })
    const documented = new Documented(await readDocument(running))
    for (const operation of OPERATIONS) {
      const answer = await ask(running, operation)
      expect(answer.status).toBe(Number(status))
      documented.expectAnswer(operation, answer)
    }
  })

  test('has a page that runs nothing from elsewhere, without a token, a fault or a line in the log', async () => {
    const running = await startForTest({ faults: 'drop-before=1' })
    const page = await fetch(`${running.baseUrl}/docs`)
    expect(page.status).toBe(200)
    const policy = page.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval/)
    const sources = [...(await page.text()).matchAll(/(?:src|href)="([^"]*)"/g)].map(
      ([, source = '']) => source,
    )
    expect(sources.length).toBeGreaterThan(4)
    for (const source of [...sources, '/docs/json']) {
      const url = new URL(source, `${running.baseUrl}/docs`)
      expect(url.origin).toBe(running.baseUrl)
      expect((await fetch(url)).status).toBe(200)
    }
    await readDocument(running)
    expect(running.requests()).toEqual([])
  })

  test('has no other files', async () => {
    const running = await startForTest({})
    for (const path of ['/docs/static/nothing.js', '/docs/static/..%2f..%2fpackage.json']) {
      expect((await fetch(`${running.baseUrl}${path}`)).status).toBe(404)
    }
  })
})
