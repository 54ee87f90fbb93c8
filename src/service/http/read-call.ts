import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { Endpoint, Operation } from '../../api/contract/endpoints.ts'
import { MAX_ID } from '../../api/contract/values.ts'
import { inTurns } from '../../base/turns.ts'
import { checkForm } from './check-form.ts'
import { parseForm } from './form.ts'
import { headerSafe, readPageRequest } from './paging.ts'
import { type FieldError, fieldProblem, messageOf, notFound, Problem } from './problem.ts'
import type { Call } from '../routes/handler.ts'
import type { Origin } from '../events/event.ts'
import type { Grant } from '../store/tokens.ts'

/** The header `link` repeats the query up to four times, and many clients accept at most 16 KiB of headers. */
const MAX_QUERY = 3000

export interface CallContext {
  readonly grant: Grant
  readonly origin: Origin
  readonly baseUrl: string
}

/** Checked against the contract. Throws a `Problem`. */
export async function readCall<O extends Operation>(
  endpoint: Endpoint,
  request: FastifyRequest,
  context: CallContext,
): Promise<Call<O>> {
  const query = queryOf(request)
  const call = {
    ...context,
    ...readPath(request.params as PathParams),
    organizationId: context.grant.organizationId,
    page: readPageRequest(endpoint.paged ? query : ''),
    query: endpoint.query === undefined ? undefined : readQuery(endpoint.query, query),
    form: endpoint.form === undefined ? undefined : await inTurns(checkForm(endpoint.form, request.body)),
  }
  // The contract types the call, and the same contract was read here.
  return call as Call<O>
}

type PathParams = Readonly<Record<string, string | undefined>>

function readPath(params: PathParams): object {
  const { directory_id, subscription_id, group_id, external_id } = params
  return {
    ...(directory_id !== undefined && { directoryId: readId(directory_id) }),
    ...(subscription_id !== undefined && { subscriptionId: readId(subscription_id) }),
    ...(group_id !== undefined && { groupId: readId(group_id) }),
    ...(external_id !== undefined && { externalId: readExternalId(external_id) }),
  }
}

/** Without the question mark. */
function queryOf(request: FastifyRequest): string {
  const question = request.url.indexOf('?')
  const query = question < 0 ? '' : request.url.slice(question + 1)
  if (headerSafe(query).length <= MAX_QUERY) return query
  throw new Problem('path-too-long', `The query is longer than ${MAX_QUERY} characters.`)
}

function readId(text: string): number {
  const id = Number(text)
  if (!/^[1-9]\d*$/.test(text) || id > MAX_ID) throw notFound()
  return id
}

/** PostgreSQL refuses a NUL in a query, and no id has one. */
function readExternalId(text: string): string {
  if (text === '' || text.includes('\0') || !text.isWellFormed()) throw notFound()
  return text
}

/** Follows the convention of forms; a wrong value is malformed (400), not refused (422). */
function readQuery(schema: z.ZodObject, query: string): unknown {
  const result = schema.safeParse(parseForm(query), { reportInput: true })
  if (result.success) return result.data
  throw fieldProblem('malformed', result.error.issues.flatMap(queryErrors))
}

/** Named as in the query, such as `filters[type]`. */
function queryErrors(issue: z.core.$ZodIssue): FieldError[] {
  const [first = '', ...rest] = issue.path.map(String)
  const field = `${first}${rest.map((part) => `[${part}]`).join('')}`
  if (issue.code !== 'unrecognized_keys') return [{ field, message: messageOf(issue) }]
  return issue.keys.map((key) => ({ field: `${field}[${key}]`, message: 'is not known' }))
}
