import type { UserPlace } from './compile.ts'
import { type LdapEntry, lookupIn } from './entry.ts'
import { bothOf } from './filter.ts'
import { type Reading, readPlace } from './read-place.ts'
import type { Records } from './records.ts'
import { reportUnseen } from './unseen.ts'
import type { ReadUsers } from './users.ts'

/** Reads the users. Throws like `readPlace`. */
export async function readUsers(
  reading: Reading,
  place: UserPlace,
  records: Records,
  users: ReadUsers,
): Promise<void> {
  const { map, disabled } = place
  const disabledUsers = await readDisabled(reading, place)
  const watched = [...map.attributes, ...(disabled?.attributes ?? [])]
  const attributes = [...new Set([...watched, ...records.userAttributes])]
  const unseen = new Set(watched)
  let entries = 0

  function take(entry: LdapEntry, isDisabled: boolean): void {
    users.add(records.userOf(entry, isDisabled ? disabled?.action : undefined))
  }

  const sort = createSorting(disabledUsers, (entry) => lookupIn(entry)(map.id), take)
  await readPlace(reading, place, attributes, (entry) => {
    entries += 1
    for (const name of unseen) if (entry.attributes.has(name.toLowerCase())) unseen.delete(name)
    sort.add(entry)
  })
  sort.finish()
  if (entries > 0) await reportUnseen(reading, 'users.map', place, [...unseen])
}

interface DisabledUsers {
  readonly dns: ReadonlySet<string>
  readonly ids: ReadonlySet<string>
}

/**
 * Separates disabled users from others. A returning user may have a disabled account and another one with the same id.
 * A disabled account that was moved to another DN between the two searches is still the same one: an entry with its id
 * counts as another only where the account itself was read too.
 */
function createSorting(
  { dns, ids }: DisabledUsers,
  idsOf: (entry: LdapEntry) => readonly string[],
  take: (entry: LdapEntry, isDisabled: boolean) => void,
): { add(entry: LdapEntry): void; finish(): void } {
  const met = new Set<string>()
  const undecided: LdapEntry[] = []
  return {
    add(entry) {
      if (dns.size > 0 && dns.has(entry.dn)) {
        for (const id of idsOf(entry)) met.add(id)
        take(entry, true)
      } else if (ids.size > 0 && idsOf(entry).some((id) => ids.has(id))) undecided.push(entry)
      else take(entry, false)
    },
    finish() {
      for (const entry of undecided) take(entry, !idsOf(entry).some((id) => met.has(id)))
    },
  }
}

/** The server itself applies the rule, because it knows the syntaxes. */
async function readDisabled(reading: Reading, place: UserPlace): Promise<DisabledUsers> {
  const dns = new Set<string>()
  const ids = new Set<string>()
  const { disabled, map } = place
  if (disabled === undefined) return { dns, ids }
  const filter = bothOf(place.filter, disabled.filter)
  const where = { ...place, filter, filterText: `(&${place.filterText}${disabled.filterText})` }
  await readPlace(reading, where, [map.id], (entry) => {
    dns.add(entry.dn)
    for (const id of lookupIn(entry)(map.id)) ids.add(id)
  })
  return { dns, ids }
}
