import { randomBytes } from 'node:crypto'

/** Operators and secret scanners recognise the tokens by this prefix. */
const PREFIX = 'am_'
const TOKEN_BYTES = 32

/** 256 random bits after the prefix. */
export function newToken(): string {
  return `${PREFIX}${randomBytes(TOKEN_BYTES).toString('base64url')}`
}

/** `undefined` where the header holds no token. */
export function tokenOf(authorization: string | undefined): string | undefined {
  return /^token +([\x21-\x7e]+)$/i.exec(authorization ?? '')?.[1]
}
