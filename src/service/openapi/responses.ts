import { type Endpoint, endpoints, type Operation } from '../../api/contract/endpoints.ts'
import { PROBLEM_TYPE, type ProblemCode, PROBLEMS, problemType } from '../http/problem.ts'
import { OPERATIONS } from './operations.ts'
import { answerSchema, type JsonObject, ref } from './schemas.ts'

/** Problems of endpoints that may have a body, have a form, or list the problem in `OPERATIONS`. */
const WITH_BODY: readonly ProblemCode[] = ['body-too-large', 'media-type-unsupported']
const WITH_FORM: readonly ProblemCode[] = ['value-not-allowed']
const WHERE_LISTED: readonly ProblemCode[] = ['not-permitted', 'external-id-taken', 'not-supported']

export function componentHeaders(): Record<string, JsonObject> {
  const whole = { type: 'integer', minimum: 0 }
  return {
    'x-token-expires-in': {
      description:
        'Whole seconds for which the token is still valid. In every answer to a valid token, except 429 above the rate limit.',
      schema: whole,
    },
    total: { description: 'How many items the whole list has.', schema: whole },
    'per-page': { description: 'How many items a page has.', schema: { type: 'integer', minimum: 1 } },
    link: {
      description:
        'The other pages (RFC 8288), up to four entries `<URI>; rel="first"`, `prev`, `next` and `last`. Only present when there is more than one page.',
      schema: { type: 'string' },
    },
    'retry-after': { description: 'Seconds to wait before sending the request again.', schema: whole },
    allow: { description: 'The methods that the path has.', schema: { type: 'string' } },
    'www-authenticate': { description: 'How to authenticate.', schema: { type: 'string' } },
  }
}

/** RFC 9457. */
export function problemSchema(): JsonObject {
  const codes = Object.keys(PROBLEMS) as ProblemCode[]
  return {
    type: 'object',
    description: 'What went wrong, in the form of RFC 9457. Programs use `type`, people read `detail`.',
    properties: {
      type: { type: 'string', description: 'Which problem it is.', enum: codes.map(problemType) },
      title: { type: 'string', description: 'The problem in words; the same for every problem of the type.' },
      status: { type: 'integer', description: 'The status of the answer.' },
      detail: { type: 'string', description: 'What is wrong with this request.' },
      errors: {
        type: 'array',
        description: 'The wrong fields, at most 100; only present where fields are wrong.',
        items: {
          type: 'object',
          properties: {
            field: {
              type: 'string',
              description: 'Such as `email`, `users[3].email` or `filters[time_from]`.',
            },
            message: { type: 'string', description: 'Such as `is required`.' },
          },
          required: ['field', 'message'],
        },
      },
    },
    required: ['type', 'title', 'status', 'detail'],
  }
}

/** Shared by several endpoints, by the codes of their problems. */
export function componentResponses(): Record<string, JsonObject> {
  const groups = (Object.keys(endpoints) as Operation[]).flatMap((operation) =>
    problemGroups(operation, endpoints[operation]),
  )
  return Object.fromEntries(
    groups.map(({ status, codes }) => [codes.join('.'), problemResponse(status, codes)]),
  )
}

export function responsesOf(operation: Operation, endpoint: Endpoint): JsonObject {
  const refused = problemGroups(operation, endpoint).map(({ status, codes }) => {
    return [String(status), ref('responses', codes.join('.'))] as const
  })
  return { [endpoint.status]: successResponse(operation, endpoint), ...Object.fromEntries(refused) }
}

function successResponse(operation: Operation, endpoint: Endpoint): JsonObject {
  const names = ['x-token-expires-in', ...(endpoint.paged ? ['total', 'per-page', 'link'] : [])]
  const headers = Object.fromEntries(names.map((name) => [name, ref('headers', name)]))
  const { answer: description } = OPERATIONS[operation]
  if (endpoint.response === undefined) return { description, headers }
  return {
    description,
    headers,
    content: { 'application/json': { schema: answerSchema(endpoint.response) } },
  }
}

interface ProblemGroup {
  readonly status: number
  readonly codes: readonly ProblemCode[]
}

function problemGroups(operation: Operation, endpoint: Endpoint): ProblemGroup[] {
  const { problems = [] } = OPERATIONS[operation]
  const possible = new Set<ProblemCode>([
    ...(endpoint.method === 'GET' ? [] : WITH_BODY),
    ...(endpoint.form === undefined ? [] : WITH_FORM),
    ...problems,
  ])
  const conditional = new Set<ProblemCode>([...WITH_BODY, ...WITH_FORM, ...WHERE_LISTED])
  const codes = (Object.keys(PROBLEMS) as ProblemCode[]).filter((code) => {
    return possible.has(code) || !conditional.has(code)
  })
  const groups = Map.groupBy(codes, (code) => PROBLEMS[code].status)
  return [...groups].map(([status, ofStatus]) => ({ status, codes: ofStatus }))
}

const HEADERS_OF_STATUS: Readonly<Record<number, string>> = {
  401: 'www-authenticate',
  405: 'allow',
  429: 'retry-after',
}

function problemResponse(status: number, codes: readonly ProblemCode[]): JsonObject {
  const header = HEADERS_OF_STATUS[status]
  const type = { enum: codes.map(problemType) }
  const schema = { allOf: [ref('schemas', 'Problem'), { properties: { status: { const: status }, type } }] }
  return {
    description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].title}.`).join(' '),
    ...(header !== undefined && { headers: { [header]: ref('headers', header) } }),
    content: { [PROBLEM_TYPE]: { schema, examples: Object.fromEntries(codes.map(exampleOf)) } },
  }
}

function exampleOf(code: ProblemCode): [string, JsonObject] {
  const { status, title } = PROBLEMS[code]
  return [code, { value: { type: problemType(code), title, status, detail: `${title}.` } }]
}
