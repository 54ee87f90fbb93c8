import { hash, timingSafeEqual } from 'node:crypto'

/** In constant time. */
export function isSameToken(given: string, token: string): boolean {
  return timingSafeEqual(digest(given), digest(token))
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}
