import { createHmac, timingSafeEqual } from 'node:crypto'
import { parseCookie, stringifySetCookie } from 'cookie'

/**
 * The cookie holds no secret: user name, end of the session, and a signature with the token. Browsers send a cookie to
 * all ports of a host, so each listener has its own.
 */
function cookieOf(port: number): string {
  return `dirsyncd-session-${port}`
}

const LIFE_S = 12 * 3600

/** `Lax`: a link in a notification opens signed in, and links never change anything. */
const ATTRIBUTES = { httpOnly: true, sameSite: 'lax', path: '/' } as const

/** Another token ends the session. */
export interface SessionPlace {
  readonly port: number
  readonly token: string
}

export function signIn(
  user: string,
  { port, token }: SessionPlace,
  isSecure: boolean,
  now = Date.now(),
): string {
  const content = Buffer.from(JSON.stringify({ user, ends: now + LIFE_S * 1000 })).toString('base64url')
  const value = `${content}.${signature(content, token)}`
  return stringifySetCookie({ name: cookieOf(port), value, maxAge: LIFE_S, secure: isSecure, ...ATTRIBUTES })
}

export function signOut(port: number): string {
  return stringifySetCookie({ name: cookieOf(port), value: '', maxAge: 0, ...ATTRIBUTES })
}

export function sessionUser(
  header: string | undefined,
  { port, token }: SessionPlace,
  now = Date.now(),
): string | undefined {
  const [content = '', given = ''] = (parseCookie(header ?? '')[cookieOf(port)] ?? '').split('.')
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
