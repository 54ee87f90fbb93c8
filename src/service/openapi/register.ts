import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { baseUrlOf } from '../http/register.ts'
import { refuseOtherMethods } from '../http/rules.ts'
import { createDocument } from './document.ts'
import type { JsonObject } from './schemas.ts'

const DOCUMENT_PATH = '/openapi.json'
const PAGE_PATH = '/docs'

/** The page may only load and call its own origin. */
const CONTENT_SECURITY_POLICY = [
  `default-src 'none'`,
  `script-src 'self'`,
  `style-src 'self'`,
  `img-src 'self' data:`,
  `connect-src 'self'`,
  `base-uri 'none'`,
  `form-action 'none'`,
  `frame-ancestors 'none'`,
].join('; ')

/** The OpenAPI document, and a page to browse it and try it out; neither needs a token. */
export function registerDocumentation(app: FastifyInstance, publicUrl: string | undefined): void {
  const document = createDocument('')
  const documentFor = (request: FastifyRequest): JsonObject => {
    const url = baseUrlOf(request, publicUrl)
    return url === '' ? document : { ...document, servers: [{ url }] }
  }
  app.get(DOCUMENT_PATH, async (request) => documentFor(request))
  for (const path of [DOCUMENT_PATH, PAGE_PATH, `${PAGE_PATH}/`]) refuseOtherMethods(app, path, ['GET'])
  // The plugin's types know only OpenAPI 3.0, but it serves what `transformSpecification` returns.
  const specification = { document: document as never }
  app.register(async (page) => {
    page.addHook('onSend', async (_request, reply) => {
      reply.headers({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' })
    })
    await page.register(swagger, { mode: 'static', specification })
    await page.register(swaggerUi, {
      routePrefix: PAGE_PATH,
      theme: { title: 'Access-management service API' },
      staticCSP: CONTENT_SECURITY_POLICY,
      transformSpecification: (_document, request) => documentFor(request),
      transformSpecificationClone: false,
      uiConfig: {
        layout: 'BaseLayout',
        docExpansion: 'list',
        defaultModelsExpandDepth: 1,
      },
    })
  })
}
