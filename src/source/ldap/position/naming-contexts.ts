import { normalizeDn } from '../dn.ts'
import { type LdapEntry, lookupIn } from '../entry.ts'

/** The contexts that hold these bases, each once, as normal DNs; `undefined` where one of the bases is in none. */
export function namingContextsOf(
  bases: readonly string[],
  rootDse: LdapEntry | undefined,
): readonly string[] | undefined {
  const shown = rootDse === undefined ? [] : lookupIn(rootDse)('namingContexts')
  const all = shown.map((context) => normalizeDn(context) ?? '').filter((context) => context !== '')
  const holding = new Set<string>()
  for (const base of bases) {
    const dn = normalizeDn(base)
    // A context may be below another one; the longest match has the entries.
    const [context] = all
      .filter((each) => dn === each || dn?.endsWith(`,${each}`) === true)
      .toSorted((a, b) => b.length - a.length)
    if (context === undefined) return undefined
    holding.add(context)
  }
  return [...holding].toSorted()
}
