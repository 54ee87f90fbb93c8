import fc from 'fast-check'
import { type Endpoint, endpoints, type Operation, PREFIX } from '../../src/api/contract/endpoints.ts'
import { FIXTURE } from '../support/fixture.ts'

/** A request that a stranger or a broken program might send. */
export interface FuzzedRequest {
  readonly operation: Operation
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

const OPERATIONS = Object.keys(endpoints) as Operation[]

/** What programs have stumbled over before. */
const NASTY = [
  ...words(String.raw`. .. ../.. % %% _ \ ' " '1=1-- ; $1 {} [] -1 0 1 01 1.5 -0 1e309 0x10 NaN Infinity`),
  ...words('2147483647 2147483648 9223372036854775808 99999999999999999999999'),
  ...words('__proto__ constructor toString null undefined true maybe'),
  ...words('2026-01-31 2026-02-30 0000-01-01 9999-12-31T23:59:59.999+23:59 +275760-09-13T00:00:00Z'),
  ...words('-271821-04-20T00:00:00Z 2026-01-31T24:00:00Z 2026-01-31T08:00:00.123456789-00:00'),
  ...words('192.0.2.10 256.1.1.1 :: ::ffff:192.0.2.10 fe80::1%eth0 1.2.3.4/33 2001:db8::/32 1:2:3'),
  ...words('ada@example.org a@b @ update_policy Sales theirs İ ß ǆ \u202e \uffff \ud800 \udfff 👩‍👩‍👧'),
  '',
  ' ',
  '\0',
  'a\0b',
  '\ufeff',
  'e\u0301',
  'a@example.org\nX: y',
  'user/1 ä',
  'group 1',
  'ﷺ'.repeat(50),
  'x'.repeat(81),
  'x'.repeat(255),
  'x'.repeat(2049),
  'ü'.repeat(1025),
]

function words(line: string): string[] {
  return line.split(' ')
}

const text = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...NASTY) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 30 }) },
  { weight: 1, arbitrary: fc.string({ maxLength: 30 }) },
  {
    weight: 1,
    arbitrary: fc.array(fc.nat(0xffff), { maxLength: 8 }).map((codes) => String.fromCharCode(...codes)),
  },
)

/** As `encodeURIComponent`, which refuses half a character. */
function encode(value: string): string {
  return encodeURIComponent(value.toWellFormed())
}

const printable = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  maxLength: 60,
})

/** Survives as a part of a path or a query that the client sends as it is. */
const rawUrlPart = fc
  .oneof(
    printable,
    fc
      .array(
        fc.constantFrom(
          '%',
          '%2',
          '%00',
          '%2F',
          '%E0%A4%A',
          '%C3%A4',
          '[',
          ']',
          '&',
          '=',
          '+',
          ';',
          'a',
          '..',
        ),
      )
      .map((parts) => parts.join('')),
  )
  .map((part) => part.replaceAll(/[#\s]/g, ''))

const numbers = (...ids: readonly number[]) => fc.constantFrom(...ids.map(String))

/** Few, so that what one request creates others read, change and delete. */
const IDS = ['user/1 ä', 'user/2 ä', 'group 1', 'group 2', 'made']

/** Mostly what leads somewhere, also to what is somebody else's. */
const PARAMS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  organization_id: mostly(numbers(1), numbers(2, 999)),
  directory_id: mostly(numbers(7, 71), numbers(8, 999)),
  subscription_id: mostly(numbers(101, 102, 103, 121), numbers(104, 201, 999)),
  group_id: mostly(numbers(51, 52), numbers(61, 999)),
  external_id: mostly(fc.constantFrom(...IDS.map(encode)), text.map(encode)),
}

function mostly(usual: fc.Arbitrary<string>, other: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 60, arbitrary: usual },
    { weight: 15, arbitrary: other },
    { weight: 5, arbitrary: text.map(encode) },
    { weight: 5, arbitrary: rawUrlPart.map((part) => part.replaceAll('/', '%2F')) },
    { weight: 1, arbitrary: fc.constant('9'.repeat(7000)) },
  )
}

function pathOf({ path }: Endpoint): fc.Arbitrary<string> {
  const names = [...`${PREFIX}${path}`.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '')
  return fc.tuple(...names.map((name) => PARAMS[name]!)).map((values) => {
    let next = 0
    return `${PREFIX}${path}`.replaceAll(/\{\w+\}/g, () => values[next++] ?? '')
  })
}

const FILTERS = words('type time_from time_to ip_from ip_to group_id contact_id type][ __proto__')

const QUERY_NAMES = [
  ...words('page per_page all q filters filters[]'),
  ...FILTERS.map((name) => `filters[${name}]`),
]

const query = fc.oneof(
  { weight: 2, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: rawUrlPart.map((part) => `?${part}`) },
  {
    weight: 4,
    arbitrary: fc
      .array(fc.tuple(fc.oneof(fc.constantFrom(...QUERY_NAMES), text), text), { maxLength: 4 })
      .map((pairs) => `?${pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&')}`),
  },
)

interface Body {
  readonly type: string | undefined
  readonly text: string
}

/** What is allowed in each field. */
const GOOD_VALUES: Readonly<Record<string, readonly string[]>> = {
  external_id: IDS,
  email: ['new@example.org'],
  name: ['A new name'],
  employee_id: ['e-1'],
  favorite: ['true', 'false'],
  position: ['3'],
  RelayState: ['state'],
}

/** A form that is taken, if its id is not. */
function goodForm(fields: readonly string[], list: string | undefined): fc.Arbitrary<string> {
  const names = fields.filter((name) => name in GOOD_VALUES)
  return fc.tuple(...names.map((name) => fc.constantFrom(...GOOD_VALUES[name]!))).map((values) => {
    const pairs = values.map((value, index) => {
      const name = names[index]!
      return `${list === undefined ? name : `${list}[][${name}]`}=${encode(value)}`
    })
    return pairs.join('&')
  })
}

const FORM = 'application/x-www-form-urlencoded'
const JSON_TYPE = 'application/json'

/** A form or JSON with the endpoint's own names in it, and what should not be. */
function bodyOf({ form }: Endpoint): fc.Arbitrary<Body | undefined> {
  const fields = Object.keys(form?.fields.shape ?? { name: true })
  const list = form?.list
  const name = fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...fields) }, { weight: 1, arbitrary: text })
  const formName = name.chain((field) =>
    fc.constantFrom(
      ...(list === undefined
        ? [field, field, field]
        : Array.from({ length: 4 }, () => `${list}[][${field}]`)),
      `${field}[]`,
      `${field}[a][b]`,
      `${list ?? 'users'}[${field}]`,
      `${list ?? 'users'}[]`,
      `[${field}`,
    ),
  )
  const formBody = fc.array(fc.tuple(formName, text), { maxLength: 6 }).map((pairs) => ({
    type: FORM,
    text: pairs.map(([key, value]) => `${encode(key)}=${encode(value)}`).join('&'),
  }))
  const value = fc.oneof(
    { weight: 4, arbitrary: text },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
    { weight: 1, arbitrary: fc.array(text, { maxLength: 3 }) },
  )
  const entry = fc.dictionary(name, value, { maxKeys: 4 })
  const content =
    list === undefined ? entry : fc.array(entry, { maxLength: 3 }).map((entries) => ({ [list]: entries }))
  const types = fc.constantFrom(
    FORM,
    JSON_TYPE,
    `${JSON_TYPE}; charset=utf-16`,
    'text/plain',
    'multipart/form-data',
    '',
  )
  return fc.oneof(
    { weight: 2, arbitrary: fc.constant(undefined) },
    { weight: 3, arbitrary: goodForm(fields, list).map((good) => ({ type: FORM, text: good })) },
    { weight: 4, arbitrary: formBody },
    { weight: 4, arbitrary: content.map((json) => ({ type: JSON_TYPE, text: JSON.stringify(json) })) },
    { weight: 1, arbitrary: fc.json().map((json) => ({ type: JSON_TYPE, text: json })) },
    {
      weight: 1,
      arbitrary: fc.tuple(types, fc.oneof(rawUrlPart, text)).map(([type, raw]) => ({ type, text: raw })),
    },
  )
}

/** Tokens of organization 1, and what is none. */
const token = fc.oneof(
  { weight: 12, arbitrary: fc.constant(FIXTURE.token) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      FIXTURE.readOnlyToken,
      FIXTURE.userToken,
      FIXTURE.benToken,
      FIXTURE.expiredToken,
    ),
  },
  { weight: 1, arbitrary: printable },
)

/** In a header every character is a byte. */
const headerText = fc.string({
  unit: fc
    .oneof(fc.integer({ min: 0x20, max: 0x7e }), fc.integer({ min: 0xa0, max: 0xff }))
    .map((code) => String.fromCharCode(code)),
  maxLength: 40,
})

const headers = fc.record(
  {
    'x-device-id': fc.oneof(
      { weight: 8, arbitrary: fc.constant('fuzz') },
      { weight: 1, arbitrary: headerText },
    ),
    accept: headerText,
    'x-forwarded-for': fc.oneof(headerText, fc.constant('192.0.2.1, ::1')),
    'x-forwarded-host': headerText,
    'content-encoding': fc.constantFrom('gzip', 'identity', 'br'),
    origin: headerText,
    range: fc.constant('bytes=0-1'),
    'if-none-match': fc.constant('*'),
    cookie: headerText,
    'x-much': fc.constantFrom('x'.repeat(15_000), 'x'.repeat(20_000)),
  },
  { requiredKeys: ['x-device-id'] },
)

/** Extra headers are rare: each of them alone may be what is refused. */
const someHeaders = fc.oneof(
  { weight: 5, arbitrary: fc.constant({ 'x-device-id': 'fuzz' }) },
  { weight: 1, arbitrary: headers },
)

/** Any request to any of the endpoints, about half of which come through to the handler. */
export const fuzzedRequest: fc.Arbitrary<FuzzedRequest> = fc
  .constantFrom(...OPERATIONS)
  .chain((operation) => {
    const endpoint: Endpoint = endpoints[operation]
    return fc
      .record({ path: pathOf(endpoint), query, body: bodyOf(endpoint), token, headers: someHeaders })
      .map((parts) => ({
        operation,
        method: endpoint.method,
        path: `${parts.path}${parts.query}`,
        headers: {
          authorization: `token ${parts.token}`,
          ...Object.fromEntries(Object.entries(parts.headers).filter(([, value]) => value !== undefined)),
          ...(parts.body?.type ? { 'content-type': parts.body.type } : {}),
        },
        body: endpoint.method === 'GET' ? undefined : parts.body?.text,
      }))
  })

const HEAD = [`authorization: token ${FIXTURE.token}`, 'x-device-id: fuzz']

const METHODS = [...words('GET POST PATCH DELETE HEAD OPTIONS CONNECT TRACE PUT get'), 'G\0T', '']

const TARGETS = [
  '/api/v2/organizations/1/admin/directories',
  '/api/v2/organizations/1/subscriptions/101/credentials',
  'http://evil.invalid/api/v2/organizations/1/events',
  '*',
  '//',
  '/\0',
  '/ä',
  `/${'a'.repeat(20_000)}`,
]

const LINES = [
  'host: x',
  'host: x\r\nhost: y',
  'host:',
  'content-length: 5',
  'content-length: -1',
  'content-length: 1e9',
  'content-length: 99999999999999999999',
  'content-length: 3\r\ncontent-length: 4',
  'transfer-encoding: chunked',
  'transfer-encoding: x, chunked',
  'expect: 100-continue',
  'expect: nonsense',
  'connection: upgrade\r\nupgrade: websocket',
  'upgrade: h2c',
  'connection: close',
  'te: trailers',
  'content-type: application/json',
  ' folded',
  'no colon',
  ': no name',
  'na me: x',
  'x: \0',
  'x: \x7f',
  `x: ${'y'.repeat(17_000)}`,
]

const BODIES = ['', '{}', '5\r\nhello\r\n0\r\n\r\n', 'zz\r\n', 'fffffffffffffffff\r\n', '0\r\nx: y\r\n\r\n']

/** Bytes that are not quite HTTP: pieces of requests put together wrongly, some of them cut off. */
export const brokenHttp: fc.Arbitrary<string> = fc
  .record({
    method: fc.constantFrom(...METHODS),
    target: fc.oneof(
      fc.constantFrom(...TARGETS),
      text.map((part) => `/api/v2/organizations/1/admin/directories/7/users/${part}`),
    ),
    version: fc.constantFrom('HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/0.9', 'HTP/1.1', ''),
    lines: fc.array(fc.constantFrom(...LINES), { maxLength: 4 }),
    body: fc.oneof(fc.constantFrom(...BODIES), fc.string({ unit: 'binary', maxLength: 20 })),
    cut: fc.oneof(
      { weight: 3, arbitrary: fc.constant(1) },
      { weight: 1, arbitrary: fc.double({ min: 0, max: 1, noNaN: true }) },
    ),
  })
  .map(({ method, target, version, lines, body, cut }) => {
    const head = [`${method} ${target} ${version}`, ...HEAD, ...lines].map((line) => `${line}\r\n`).join('')
    const request = `${head}\r\n${body}`
    return request.slice(0, Math.ceil(request.length * cut))
  })
