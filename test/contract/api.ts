import { expect } from 'vitest'
import type { Endpoint } from '../../src/api/contract/endpoints.ts'
import { endpoints, type Operation } from '../../src/api/contract/endpoints.ts'
import { FIXTURE } from '../support/fixture.ts'
import { type RunningService } from '../support/service.ts'

export interface ApiRequest {
  /** Form fields in order, or the text of a form. */
  readonly form?: readonly (readonly [string, string])[] | string
  readonly json?: unknown
  readonly query?: string
  /** Default the token with all scopes; null for none. */
  readonly token?: string | null
  /** Default `device`; null for none. */
  readonly deviceId?: string | null
  readonly headers?: Record<string, string>
  readonly organizationId?: number | string
  readonly directoryId?: number | string
  readonly externalId?: string
  /** Instead of `externalId`, sent unchanged. */
  readonly rawExternalId?: string
  readonly subscriptionId?: number | string
  readonly groupId?: number | string
}

export interface ApiAnswer {
  readonly status: number
  readonly type: string | null
  readonly headers: Headers
  readonly body: unknown
}

/** Asks the service with nothing but what the API description says, and not with the client of this repository. */
export async function ask(
  service: RunningService,
  operation: Operation,
  request: ApiRequest = {},
): Promise<ApiAnswer> {
  const endpoint: Endpoint = endpoints[operation]
  const url = `${service.baseUrl}${pathOf(endpoint, request)}${request.query ?? ''}`
  const body = bodyOf(request)
  const response = await fetch(url, {
    method: endpoint.method,
    headers: headersOf(request),
    ...(body === undefined ? {} : { body }),
  })
  const text = await response.text()
  const { status, headers } = response
  return {
    status,
    type: headers.get('content-type'),
    headers,
    body: text === '' ? undefined : JSON.parse(text),
  }
}

function pathOf(endpoint: Endpoint, request: ApiRequest): string {
  const {
    organizationId = FIXTURE.organizationId,
    directoryId = FIXTURE.directoryId,
    externalId = 'nobody',
    subscriptionId = FIXTURE.samlSubscriptionId,
    groupId = FIXTURE.groupId,
  } = request
  const path = endpoint.path
    .replace('{directory_id}', String(directoryId))
    .replace('{external_id}', () => request.rawExternalId ?? encodeURIComponent(externalId))
    .replace('{subscription_id}', String(subscriptionId))
    .replace('{group_id}', String(groupId))
  return `/api/v2/organizations/${organizationId}${path}`
}

function bodyOf({ form, json }: ApiRequest): string | undefined {
  if (json !== undefined) return JSON.stringify(json)
  if (form === undefined || typeof form === 'string') return form
  return new URLSearchParams(form.map(([name, value]): [string, string] => [name, value])).toString()
}

function headersOf(request: ApiRequest): Record<string, string> {
  const { token = FIXTURE.token, deviceId = 'device', headers } = request
  const type = request.json === undefined ? 'application/x-www-form-urlencoded' : 'application/json'
  return {
    ...(token === null ? {} : { authorization: `token ${token}` }),
    ...(deviceId === null ? {} : { 'x-device-id': deviceId }),
    ...(request.form === undefined && request.json === undefined ? {} : { 'content-type': type }),
    ...headers,
  }
}

/** What an answer must match to be a problem in the form of RFC 9457 whose `errors` name exactly these fields. */
export function problem(status: number, fields?: readonly string[]): object {
  const text: unknown = expect.any(String)
  const errors = fields === undefined ? {} : { errors: fields.map((field) => ({ field, message: text })) }
  return {
    status,
    type: expect.stringMatching(/^application\/problem\+json/) as unknown,
    body: { status, type: text, title: text, detail: text, ...errors },
  }
}

/** The relations of a `link` header with the query parameters of their URIs. */
export function linksOf(answer: ApiAnswer): Record<string, string> {
  const header = answer.headers.get('link')
  if (header === null) return {}
  return Object.fromEntries(
    header.split(', ').map((entry) => {
      const [, uri = '', relation = ''] = /^<([^>]+)>; rel="(\w+)"$/.exec(entry) ?? []
      return [relation, new URL(uri).search]
    }),
  )
}

/** The query of #19 with these filters. */
export function filterQuery(filters: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(filters).map(([name, value]): [string, string] => [`filters[${name}]`, value])
  return `?${new URLSearchParams(pairs).toString()}`
}
