import { hash, timingSafeEqual } from 'node:crypto'

/** Compares in a time that says nothing of the token. */
export function isSameToken(given: string, token: string): boolean {
  return timingSafeEqual(digest(given), digest(token))
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}
