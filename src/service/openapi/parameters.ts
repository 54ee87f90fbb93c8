import type { z } from 'zod'
import { type Endpoint, PAGE, PREFIX } from '../../api/contract/endpoints.ts'
import { MAX_DEVICE_ID } from '../http/authenticate.ts'
import { inputSchema, type JsonObject, ref } from './schemas.ts'

const PATH_PARAMETERS: Readonly<
  Record<string, { readonly schema: JsonObject; readonly description: string; readonly example?: number }>
> = {
  organization_id: {
    schema: { type: 'integer', minimum: 1 },
    example: 1,
    description: 'The organization that the token belongs to.',
  },
  directory_id: {
    schema: { type: 'integer', minimum: 1 },
    example: 7,
    description: 'The id of the directory.',
  },
  external_id: {
    schema: { type: 'string', minLength: 1 },
    description:
      'The id in the external directory, percent-encoded: a `/` in it is `%2F`. It is compared byte for byte.',
  },
  subscription_id: {
    schema: { type: 'integer', minimum: 1 },
    description: 'The id of a subscription of the contact that the token belongs to.',
  },
  group_id: {
    schema: { type: 'integer', minimum: 1 },
    description: 'The id of a group of the organization.',
  },
}

/** Shared by many endpoints, by name. */
export function componentParameters(): Record<string, JsonObject> {
  const inPath = Object.entries(PATH_PARAMETERS).map(([name, parameter]) => {
    return [name, { name, in: 'path', required: true, ...parameter }] as const
  })
  return { ...Object.fromEntries(inPath), 'X-Device-Id': deviceId(), page: page(), per_page: perPage() }
}

/** In the order path, header, query. */
export function parametersOf(endpoint: Endpoint): JsonObject[] {
  const inPath = [...`${PREFIX}${endpoint.path}`.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const shared = [...inPath, 'X-Device-Id', ...(endpoint.paged ? ['page', 'per_page'] : [])]
  const own = Object.entries(endpoint.query?.shape ?? {}) as [string, z.ZodType][]
  return [
    ...shared.map((name) => ref('parameters', name)),
    ...own.map(([name, schema]) => queryParameter(name, schema)),
  ]
}

/** An object is sent as `filters[type]=…`, a deep object in OpenAPI. */
function queryParameter(name: string, schema: z.ZodType): JsonObject {
  const { description, ...json } = inputSchema(schema) as { description?: string; type?: string }
  return {
    name,
    in: 'query',
    required: false,
    ...(description !== undefined && { description }),
    ...(json.type === 'object' && { style: 'deepObject', explode: true }),
    schema: json,
  }
}

function deviceId(): JsonObject {
  return {
    name: 'X-Device-Id',
    in: 'header',
    required: true,
    description: 'A unique identifier that the client chooses for the device it runs on.',
    schema: { type: 'string', minLength: 1, maxLength: MAX_DEVICE_ID },
    example: 'my-laptop',
  }
}

function page(): JsonObject {
  return {
    name: 'page',
    in: 'query',
    required: false,
    description:
      'The number of the page, from 1. A number below 1 is taken as 1; a page past the end is an empty list.',
    schema: { type: 'integer', default: 1 },
  }
}

function perPage(): JsonObject {
  return {
    name: 'per_page',
    in: 'query',
    required: false,
    description: `Items on a page. A number above ${PAGE.max} is taken as ${PAGE.max}, one below 1 as ${PAGE.default}.`,
    schema: { type: 'integer', default: PAGE.default },
  }
}
