import { randomBytes } from 'node:crypto'

/** People and scanners for leaked secrets recognise our tokens by this prefix. */
const PREFIX = 'am_'
const TOKEN_BYTES = 32

/** A new token: 256 random bits after the prefix. */
export function newToken(): string {
  return `${PREFIX}${randomBytes(TOKEN_BYTES).toString('base64url')}`
}

/** The token in the value of an Authorization header; `undefined` where the header holds none. */
export function tokenOf(authorization: string | undefined): string | undefined {
  return /^token +([\x21-\x7e]+)$/i.exec(authorization ?? '')?.[1]
}
