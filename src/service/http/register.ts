import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Endpoint, endpoints, type Operation, PREFIX } from '../../api/contract/endpoints.ts'
import { createActivityRecorder, type RecordActivity } from './activity.ts'
import { authenticate } from './authenticate.ts'
import { clientIp } from './client-address.ts'
import { bodyLimitOf } from './body.ts'
import type { Limits } from './limits.ts'
import { queryNames } from './loggable.ts'
import { type Page, pageHeaders, type PageRequest } from './paging.ts'
import { readCall } from './read-call.ts'
import { refuseOtherMethods } from './rules.ts'
import type { Handler, HandlerDeps } from '../routes/handler.ts'
import { handlers } from '../routes/index.ts'
import type { Origin } from '../events/event.ts'
import type { Grant } from '../store/tokens.ts'

export interface ApiDeps extends HandlerDeps {
  readonly now: () => Date
  readonly publicUrl: string | undefined
  readonly limits: Limits
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once the request is authenticated. */
    grant: Grant | undefined
  }
}

export function registerEndpoints(app: FastifyInstance, deps: ApiDeps): void {
  app.decorateRequest('grant', undefined)
  const recordActivity = createActivityRecorder(deps.db)
  for (const operation of Object.keys(endpoints) as Operation[]) {
    registerEndpoint(app, deps, recordActivity, operation)
  }
  const paths = Map.groupBy(Object.values<Endpoint>(endpoints), ({ path }) => path)
  for (const [path, ofPath] of paths) {
    refuseOtherMethods(
      app,
      routePath(path),
      ofPath.map(({ method }) => method),
    )
  }
}

function registerEndpoint(
  app: FastifyInstance,
  deps: ApiDeps,
  recordActivity: RecordActivity,
  operation: Operation,
): void {
  const endpoint: Endpoint = endpoints[operation]
  // The contract pairs each call with its handler, which the type of a loop cannot express.
  const handler = handlers[operation] as Handler<Operation>
  app.route({
    method: endpoint.method,
    url: routePath(endpoint.path),
    bodyLimit: bodyLimitOf(endpoint),
    config: { queryNames: queryNames(endpoint) },
    onRequest: async (request, reply) => {
      // Answers hold personal data and secrets: no cache may keep them.
      reply.header('cache-control', 'no-store')
      request.grant = await authenticate(deps, deps.now(), endpoint.scope, request, reply)
      await recordActivity(request.grant.contactId, deps.now())
    },
    handler: async (request, reply) => {
      const grant = request.grant!
      const baseUrl = baseUrlOf(request, deps.publicUrl)
      const origin = originOf(grant, request, deps.now())
      const call = await readCall<Operation>(endpoint, request, { grant, origin, baseUrl })
      if (request.record?.begin() === false) return reply.hijack()
      const result = await handler(deps, call)
      if (request.record !== undefined) request.record.done = true
      return answer(endpoint, call, result, request, reply)
    },
  })
}

function answer(
  endpoint: Endpoint,
  call: { readonly page: PageRequest; readonly baseUrl: string },
  result: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  reply.code(endpoint.status)
  if (endpoint.response === undefined) return reply.send()
  if (!endpoint.paged) return reply.send(result)
  const { items, total, perPage = call.page.perPage } = result as Page<unknown>
  const page = { ...call.page, perPage }
  return reply.headers(pageHeaders(`${call.baseUrl}${request.url}`, page, total)).send(items)
}

/** Empty, which makes links relative, where the Host header is not safe to repeat. */
export function baseUrlOf(request: FastifyRequest, publicUrl: string | undefined): string {
  if (publicUrl !== undefined) return publicUrl.replace(/\/+$/, '')
  return /^[\w.:[\]-]{1,300}$/.test(request.host) ? `${request.protocol}://${request.host}` : ''
}

function originOf(grant: Grant, request: FastifyRequest, at: Date): Origin {
  const { contactId: id, contactName: name, contactEmail: email, organizationId } = grant
  return {
    organizationId,
    actor: { type: 'contact', id, name, email },
    ip: clientIp(request)?.text ?? null,
    at,
  }
}

/** `/users/{external_id}` in the contract is `/users/:external_id` for the router. */
function routePath(path: string): string {
  return `${PREFIX}${path}`.replaceAll(/\{(\w+)\}/g, ':$1')
}
