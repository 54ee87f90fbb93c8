import { type LdapEntry, lookupIn } from '../entry.ts'
import { filetimeOf } from '../filter.ts'
import type { Mark } from './mark.ts'

/** Active Directory refuses logins of expired accounts, but does not call them disabled. */
export const EXPIRED_ATTRIBUTE = 'accountExpires'
const EXPIRED = '(&(accountExpires>=1)(accountExpires<=now(filetime)))'

export class Expired {
  readonly #now = filetimeOf(new Date())
  #entries = 0

  add(entry: LdapEntry): void {
    const [value = ''] = lookupIn(entry)(EXPIRED_ATTRIBUTE)
    if (!/^\d{1,19}$/.test(value)) return
    const time = BigInt(value)
    if (time >= 1n && time <= this.#now) this.#entries += 1
  }

  marks(): Mark[] {
    if (this.#entries === 0) return []
    const value = { text: 'in the past', entries: this.#entries, filter: EXPIRED }
    return [{ attribute: EXPIRED_ATTRIBUTE, values: [value] }]
  }
}
