export type EntryKind = 'user' | 'group'

const AT_ONCE = 4
const NAMED = 10

/** `unknown` where the service fails or refuses to answer. */
export type Presence = 'there' | 'gone' | 'unknown'

export type LookUp = (kind: EntryKind, id: string) => Promise<Presence>

/** An entry that the service reported as deleted. */
export interface Removed {
  readonly id: string
  /** Whether the service confirmed the creation. */
  readonly wasCreated: boolean
}

/**
 * At most one sentence for each kind about entries that still exist or may exist. Looks up the last entry, if possible
 * one that was certainly created, and the others only if that one still exists.
 */
export async function findLeftovers(
  lookUp: LookUp,
  removed: Readonly<Record<EntryKind, readonly Removed[]>>,
): Promise<string[]> {
  const sentences: string[] = []
  for (const kind of ['user', 'group'] as const) {
    const last = removed[kind].findLast(({ wasCreated }) => wasCreated) ?? removed[kind].at(-1)
    const presence = last === undefined ? 'gone' : await lookUp(kind, last.id)
    if (presence === 'unknown') sentences.push(`it cannot be told whether the deleted ${kind}s are gone`)
    if (presence === 'there') sentences.push(await describeAll(lookUp, kind, removed[kind]))
  }
  return sentences
}

async function describeAll(lookUp: LookUp, kind: EntryKind, removed: readonly Removed[]): Promise<string> {
  const found = await lookUpAll(lookUp, kind, removed)
  const left = found['there'] ?? []
  const more = left.length > NAMED ? ` and ${left.length - NAMED} more` : ''
  const unknown = (found['unknown'] ?? []).length
  return (
    `${left.length} ${left.length === 1 ? `${kind} is` : `${kind}s are`} still there although the service said otherwise: ` +
    `${left.toSorted().slice(0, NAMED).join(', ')}${more}` +
    (unknown === 0 ? '' : `; of ${unknown} more it cannot be told`)
  )
}

async function lookUpAll(
  lookUp: LookUp,
  kind: EntryKind,
  removed: readonly Removed[],
): Promise<Partial<Record<Presence, string[]>>> {
  const found: Partial<Record<Presence, string[]>> = {}
  const waiting = removed.map(({ id }) => id)
  const work = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      ;(found[await lookUp(kind, id)] ??= []).push(id)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return found
}
