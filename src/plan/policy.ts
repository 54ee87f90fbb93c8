/** What a sync may do: everything, everything but deleting, or nothing but creating. */
export type Policy = 'mirror' | 'upsert' | 'create-only'

/** What happens to the members of groups: nothing, a report of the differences, or writing them. */
export type Membership = 'off' | 'report' | 'write'

export function mayUpdate(policy: Policy): boolean {
  return policy !== 'create-only'
}

export function mayDelete(policy: Policy): boolean {
  return policy === 'mirror'
}
