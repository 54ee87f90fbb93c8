import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Pool } from 'pg'
import type { Scope } from '../../api/contract/endpoints.ts'
import { tokenOf } from '../access-token.ts'
import type { Limits } from './limits.ts'
import { notFound, Problem } from './problem.ts'
import { findGrant, type Grant } from '../store/tokens.ts'

export const MAX_DEVICE_ID = 255

/**
 * Checks in this order: a limit (429), the token (401), the device id (400), the scope (403), the
 * organization (404). Runs before the body is read. Sets `x-token-expires-in` for a valid token, except on a
 * 429. Throws a `Problem`.
 */
export async function authenticate(
  { pool, limits }: { readonly pool: Pool; readonly limits: Limits },
  now: Date,
  scope: Scope,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Grant> {
  const grant = await limits(request, () => grantOf(pool, now, request.headers.authorization))
  reply.header('x-token-expires-in', Math.floor((grant.expiresAt.getTime() - now.getTime()) / 1000))
  checkDeviceId(deviceIdOf(request))
  if (!grant.scopes.includes(scope)) {
    throw new Problem('scope-missing', `The token lacks the scope ${scope}.`)
  }
  const { organization_id: organization } = request.params as { organization_id?: string }
  if (organization !== String(grant.organizationId)) throw notFound()
  return grant
}

async function grantOf(pool: Pool, now: Date, authorization: string | undefined): Promise<Grant> {
  const token = tokenOf(authorization)
  if (token === undefined) throw unauthorized('The header Authorization must be "token <ACCESS_TOKEN>".')
  const grant = await findGrant(pool, token)
  if (grant === undefined) throw unauthorized('The token is not known.')
  if (grant.expiresAt <= now) throw unauthorized('The token has expired.')
  return grant
}

function unauthorized(detail: string): Problem {
  return new Problem('token-refused', detail, {
    headers: { 'www-authenticate': 'token realm="access-management"' },
  })
}

export function deviceIdOf(request: FastifyRequest): string | undefined {
  const header = request.headers['x-device-id']
  return Array.isArray(header) ? header.join(', ') : header
}

function checkDeviceId(deviceId: string | undefined): void {
  if (deviceId === undefined || deviceId === '') {
    throw new Problem('device-id-invalid', 'The header X-Device-Id is missing.')
  }
  if (deviceId.length > MAX_DEVICE_ID) {
    throw new Problem('device-id-invalid', `The header X-Device-Id is over ${MAX_DEVICE_ID} characters.`)
  }
}
