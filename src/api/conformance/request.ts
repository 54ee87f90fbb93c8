import { type Endpoint, endpoints, type Operation, PREFIX } from '../contract/endpoints.ts'
import type { Param, TestedService } from './tested-service.ts'

/** Default of each field: that of the endpoint and the tested service. */
export interface ApiRequest {
  /** Percent-encoded before they are sent. */
  readonly params?: Readonly<Partial<Record<Param, string>>>
  /** Sent unchanged. */
  readonly rawParams?: Readonly<Partial<Record<Param, string>>>
  /** With its question mark, sent unchanged. */
  readonly query?: string
  /** In order. */
  readonly form?: readonly [name: string, value: string][]
  readonly body?: { readonly type: string; readonly text: string }
  /** `null` sends none. */
  readonly token?: string | null
  /** `null` sends none. */
  readonly deviceId?: string | null
  readonly headers?: Readonly<Record<string, string>>
  /** External ids of the entries that the request creates if the service accepts it. */
  readonly creates?: readonly string[]
}

export interface HttpRequest {
  readonly method: Endpoint['method']
  /** Path and query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

export const FORM = 'application/x-www-form-urlencoded'
export const JSON_TYPE = 'application/json'

export function toHttpRequest(tested: TestedService, operation: Operation, request: ApiRequest): HttpRequest {
  const endpoint: Endpoint = endpoints[operation]
  const body =
    request.form === undefined
      ? request.body
      : { type: FORM, text: new URLSearchParams(request.form).toString() }
  const token = request.token === undefined ? tested.token : request.token
  const deviceId = request.deviceId === undefined ? tested.deviceId : request.deviceId
  return {
    method: endpoint.method,
    path: `${new URL(tested.baseUrl).pathname.replace(/\/+$/, '')}${pathOf(tested, endpoint, request)}${request.query ?? ''}`,
    headers: {
      accept: 'application/json, application/problem+json',
      'user-agent': 'dirsyncd',
      ...(token !== null && { authorization: `token ${token}` }),
      ...(deviceId !== null && { 'x-device-id': deviceId }),
      ...(body !== undefined && { 'content-type': body.type }),
      ...request.headers,
    },
    body: body?.text,
  }
}

function pathOf(
  tested: TestedService,
  endpoint: Endpoint,
  { params = {}, rawParams = {} }: ApiRequest,
): string {
  const known: Partial<Record<string, string>> = {
    organization_id: String(tested.organizationId),
    directory_id: String(tested.directoryId),
    ...params,
  }
  const raw: Partial<Record<string, string>> = rawParams
  return `${PREFIX}${endpoint.path}`.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    return raw[name] ?? encodeURIComponent(known[name] ?? '')
  })
}
