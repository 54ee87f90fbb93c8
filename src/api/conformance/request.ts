import { type Endpoint, endpoints, type Operation, PREFIX } from '../contract/endpoints.ts'
import type { TestedService } from './tested-service.ts'

export type Param = 'organization_id' | 'directory_id' | 'external_id' | 'subscription_id' | 'group_id'

/** Default of each field: that of the endpoint and the tested service. */
export interface ApiRequest {
  /** Percent-encoded before they are sent. */
  readonly params?: Readonly<Partial<Record<Param, string>>>
  /** With its question mark, sent unchanged. */
  readonly query?: string
  /** In order. */
  readonly form?: readonly (readonly [name: string, value: string])[]
  /** `null` sends none. */
  readonly token?: string | null
  /** External ids of the entries that the request creates if the service accepts it. */
  readonly creates?: readonly string[]
}

export interface HttpRequest {
  readonly method: Endpoint['method']
  /** Path and query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

export function toHttpRequest(tested: TestedService, operation: Operation, request: ApiRequest): HttpRequest {
  const endpoint: Endpoint = endpoints[operation]
  const { form, query = '', token = tested.token } = request
  return {
    method: endpoint.method,
    path: `${new URL(tested.baseUrl).pathname.replace(/\/+$/, '')}${pathOf(tested, endpoint, request)}${query}`,
    headers: {
      accept: 'application/json, application/problem+json',
      'user-agent': 'dirsyncd',
      'x-device-id': tested.deviceId,
      ...(token !== null && { authorization: `token ${token}` }),
      ...(form !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
    },
    body: form === undefined ? null : new URLSearchParams(form.map(([...field]) => field)).toString(),
  }
}

function pathOf(tested: TestedService, endpoint: Endpoint, { params }: ApiRequest): string {
  const values: Partial<Record<string, string>> = {
    organization_id: String(tested.organizationId),
    directory_id: String(tested.directoryId),
    ...params,
  }
  return `${PREFIX}${endpoint.path}`.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(values[name] ?? ''),
  )
}
