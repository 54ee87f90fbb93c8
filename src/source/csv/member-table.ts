export interface MemberTable {
  add(group: string, user: string): void
  /** Also marks the group as known. */
  take(group: string | undefined): { readonly ids: readonly string[]; readonly unknown: readonly string[] }
  /** The groups that `take` was never called for. */
  remaining(): { readonly group: string; readonly users: readonly string[] }[]
}

export function createMemberTable(knowsUser: (id: string) => boolean): MemberTable {
  const table = new Map<string, Set<string>>()
  const taken = new Set<string>()
  return {
    add(group, user) {
      const users = table.get(group)
      if (users === undefined) table.set(group, new Set([user]))
      else users.add(user)
    },
    take(group) {
      const users = group === undefined ? [] : [...(table.get(group) ?? [])]
      if (group !== undefined) taken.add(group)
      return { ids: users.filter(knowsUser), unknown: users.filter((user) => !knowsUser(user)).toSorted() }
    },
    remaining() {
      const left = [...table].filter(([group]) => !taken.has(group))
      return left.map(([group, users]) => ({ group, users: [...users] }))
    },
  }
}
