import { z } from 'zod'
import {
  type Endpoint,
  endpoints,
  type Form,
  MAX_ENTRIES,
  type Operation,
} from '../../api/contract/endpoints.ts'
import { event, eventParty } from '../../api/contract/event.ts'
import { directory, externalGroup, externalUser, organizationGroup } from '../../api/contract/resources.ts'
import * as access from '../../api/contract/subscription.ts'
import { timestamp } from '../../api/contract/values.ts'

export type JsonObject = Readonly<Record<string, unknown>>

/** Named resources; everything else refers to them. */
const RESOURCES: Readonly<Record<string, z.ZodType>> = {
  Directory: directory,
  ExternalUser: externalUser,
  ExternalGroup: externalGroup,
  Subscription: access.subscription,
  SubscriptionWithSubscriber: access.subscriptionWithSubscriber,
  Subscriber: access.subscriber,
  Installation: access.installation,
  Provider: access.provider,
  Configuration: access.configuration,
  PasswordStrength: access.passwordStrength,
  Assertion: access.assertion,
  Credentials: access.credentials,
  Event: event,
  EventParty: eventParty,
  OrganizationGroup: organizationGroup,
  Timestamp: timestamp,
}

export function ref(kind: string, name: string): JsonObject {
  return { $ref: `#/components/${kind}/${name}` }
}

function schemaUri(name: string): string {
  return `#/components/schemas/${name}`
}

export function componentSchemas(): Record<string, JsonObject> {
  const registry = z.registry<{ id: string }>()
  for (const [id, resource] of Object.entries(RESOURCES)) registry.add(resource, { id })
  const { schemas } = z.toJSONSchema(registry, { uri: schemaUri, io: 'output', override: simplify })
  const bodies = (Object.keys(endpoints) as Operation[]).flatMap((operation) => {
    const { form }: Endpoint = endpoints[operation]
    return form === undefined ? [] : [[bodyName(operation), bodySchema(form)] as const]
  })
  return { ...mapValues(schemas, withoutKeywords), ...Object.fromEntries(bodies) }
}

/** A resource or a list of them, by reference. */
export function answerSchema(response: z.ZodType): JsonObject {
  if (response instanceof z.ZodArray)
    return { type: 'array', items: answerSchema(response.unwrap() as z.ZodType) }
  const name = Object.keys(RESOURCES).find((id) => RESOURCES[id] === response)
  if (name === undefined) throw new Error('An answer of the contract is missing in RESOURCES.')
  return ref('schemas', name)
}

export function inputSchema(schema: z.ZodType): JsonObject {
  return withoutKeywords(z.toJSONSchema(schema, { io: 'input', override: simplifyInput }))
}

export function bodyContent(operation: Operation, form: Form): JsonObject {
  return {
    'application/x-www-form-urlencoded': { schema: formSchema(form) },
    'application/json': { schema: ref('schemas', bodyName(operation)) },
  }
}

/** `CreateUsersBody` for `createUsers`. */
function bodyName(operation: Operation): string {
  return `${operation.charAt(0).toUpperCase()}${operation.slice(1)}Body`
}

function bodySchema({ list, fields }: Form): JsonObject {
  return inputSchema(
    list === undefined ? fields : z.object({ [list]: fields.array().min(1).max(MAX_ENTRIES) }),
  )
}

/** Flat, with the names of the API description: `users[][email]`. */
function formSchema({ list, fields }: Form): JsonObject {
  const { properties = {}, required = [] } = inputSchema(fields) as {
    properties?: Record<string, { type?: string }>
    required?: string[]
  }
  const nameOf = (field: string): string => {
    const name = list === undefined ? field : `${list}[][${field}]`
    return properties[field]?.type === 'array' ? `${name}[]` : name
  }
  const named = Object.entries(properties).map(([field, schema]) => [nameOf(field), schema])
  return {
    type: 'object',
    properties: Object.fromEntries(named) as JsonObject,
    ...(required.length > 0 && { required: required.map(nameOf) }),
  }
}

interface Conversion {
  readonly jsonSchema: z.core.JSONSchema.BaseSchema
}

/** Removes the bounds of safe integers, "anything or null", and that more fields are allowed. */
function simplify({ jsonSchema: schema }: Conversion): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  if (schema.properties !== undefined && isEmpty(schema.additionalProperties))
    delete schema.additionalProperties
  if (schema.contentEncoding !== undefined) delete schema.format
  if (schema.anyOf?.some(isEmpty)) delete schema.anyOf
}

function isEmpty(schema: unknown): boolean {
  return typeof schema === 'object' && schema !== null && Object.keys(schema).length === 0
}

/** Shows only the real type of a value that a form sends as text. */
function simplifyInput({ jsonSchema: schema }: Conversion): void {
  const typed = schema.anyOf?.find(({ type }) => type === 'boolean' || type === 'integer')
  if (typed !== undefined) {
    delete schema.anyOf
    Object.assign(schema, typed)
  }
  simplify({ jsonSchema: schema })
}

/** Removes the keywords of separate schema documents. */
function withoutKeywords(schema: object): JsonObject {
  const { $schema: _, $id: _id, '~standard': _standard, ...rest } = schema as Record<string, unknown>
  return rest
}

function mapValues<From, To>(record: Record<string, From>, map: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]))
}
