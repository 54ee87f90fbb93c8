/** Who shall be added to which group, and who taken out. */
export class Memberships {
  readonly #added = new Map<string, Set<string>>()
  readonly #removed = new Map<string, Set<string>>()

  add(group: string, user: string): void {
    setOf(this.#added, group).add(user)
  }

  remove(group: string, user: string): void {
    setOf(this.#removed, group).add(user)
  }

  groups(): Iterable<string> {
    return new Set([...this.#added.keys(), ...this.#removed.keys()])
  }

  of(group: string): { readonly added: ReadonlySet<string>; readonly removed: ReadonlySet<string> } {
    return { added: this.#added.get(group) ?? NOBODY, removed: this.#removed.get(group) ?? NOBODY }
  }
}

const NOBODY: ReadonlySet<string> = new Set()

function setOf(sets: Map<string, Set<string>>, key: string): Set<string> {
  const known = sets.get(key)
  if (known !== undefined) return known
  const set = new Set<string>()
  sets.set(key, set)
  return set
}
