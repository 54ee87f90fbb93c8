import { createHmac, timingSafeEqual } from 'node:crypto'
import { parseCookie, stringifySetCookie } from 'cookie'

/** Cookies hold no secret: whoever has signed in, until when, and a signature with the token. */
const COOKIE = 'dirsyncd-session'

/** For how long somebody stays signed in, in seconds. */
const LIFE_S = 12 * 3600

/** `Lax`: a link in a notification finds its reader signed in, while nothing is ever changed by a link. */
const ATTRIBUTES = { httpOnly: true, sameSite: 'lax', path: '/' } as const

/** A `Set-Cookie` header that signs this user in. Another token ends the session. */
export function signIn(user: string, token: string, isSecure: boolean, now = Date.now()): string {
  const content = Buffer.from(JSON.stringify({ user, ends: now + LIFE_S * 1000 })).toString('base64url')
  const value = `${content}.${signature(content, token)}`
  return stringifySetCookie({ name: COOKIE, value, maxAge: LIFE_S, secure: isSecure, ...ATTRIBUTES })
}

export function signOut(): string {
  return stringifySetCookie({ name: COOKIE, value: '', maxAge: 0, ...ATTRIBUTES })
}

/** Who has signed in, by the `Cookie` header of a request. */
export function sessionUser(header: string | undefined, token: string, now = Date.now()): string | undefined {
  const [content = '', given = ''] = (parseCookie(header ?? '')[COOKIE] ?? '').split('.')
  const wanted = Buffer.from(signature(content, token))
  const shown = Buffer.from(given)
  if (shown.length !== wanted.length || !timingSafeEqual(shown, wanted)) return undefined
  const { user, ends } = JSON.parse(Buffer.from(content, 'base64url').toString('utf8')) as {
    user: string
    ends: number
  }
  return ends > now ? user : undefined
}

function signature(content: string, token: string): string {
  return createHmac('sha256', token).update(`dirsyncd session ${content}`).digest('base64url')
}
