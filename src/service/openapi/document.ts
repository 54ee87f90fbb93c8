import { type Endpoint, endpoints, type Operation, PREFIX } from '../../api/contract/endpoints.ts'
import { DESCRIPTION } from './description.ts'
import { OPERATIONS, TAGS } from './operations.ts'
import { componentParameters, parametersOf } from './parameters.ts'
import { componentHeaders, componentResponses, problemSchema, responsesOf } from './responses.ts'
import { bodyContent, componentSchemas, type JsonObject } from './schemas.ts'

/** OpenAPI 3.1, made from the contract. Empty `serverUrl`: the address that the document came from. */
export function createDocument(serverUrl: string): JsonObject {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Access-management service API',
      version: '2',
      summary: 'Directories, subscriptions, events and groups of an organization.',
      description: DESCRIPTION,
    },
    servers: [{ url: serverUrl === '' ? '/' : serverUrl }],
    security: [{ token: [] }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: allPaths(),
    components: {
      securitySchemes: { token: tokenScheme() },
      parameters: componentParameters(),
      headers: componentHeaders(),
      responses: componentResponses(),
      schemas: { ...componentSchemas(), Problem: problemSchema() },
    },
  }
}

function allPaths(): Record<string, JsonObject> {
  const paths: Record<string, Record<string, JsonObject>> = {}
  for (const operation of Object.keys(endpoints) as Operation[]) {
    const endpoint: Endpoint = endpoints[operation]
    const path = (paths[`${PREFIX}${endpoint.path}`] ??= {})
    path[endpoint.method.toLowerCase()] = operationOf(operation, endpoint)
  }
  return paths
}

function operationOf(operation: Operation, endpoint: Endpoint): JsonObject {
  const { tag, notes } = OPERATIONS[operation]
  const scope = `Number ${endpoint.number} of the description. Needs the scope \`${endpoint.scope}\`.`
  return {
    operationId: operation,
    tags: [tag],
    summary: endpoint.purpose,
    description: notes === undefined ? scope : `${scope}\n\n${notes}`,
    security: [{ token: [endpoint.scope] }],
    parameters: parametersOf(endpoint),
    ...(endpoint.form !== undefined && { requestBody: requestBody(operation, endpoint.form) }),
    responses: responsesOf(operation, endpoint),
  }
}

/** The body is optional where every field of it is. */
function requestBody(operation: Operation, form: NonNullable<Endpoint['form']>): JsonObject {
  const required = form.list !== undefined || !form.fields.safeParse({}).success
  return { required, content: bodyContent(operation, form) }
}

function tokenScheme(): JsonObject {
  return {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description:
      'The header `Authorization` with the value `token <ACCESS_TOKEN>`: the word `token`, a blank and the token. Each operation names the scope that it needs.',
  }
}
