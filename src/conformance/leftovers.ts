export type EntryKind = 'user' | 'group'

/** How many entries are looked up at once. */
const AT_ONCE = 4
/** How many ids a sentence names. */
const NAMED = 10

/** Whether the service shows an entry. */
export type IsShown = (kind: EntryKind, id: string) => Promise<boolean>

/**
 * One sentence for each kind of entries that the service still shows after it said that they are deleted. Looks up the
 * last deleted entry of a kind, and the others only if the service still shows that one.
 */
export async function findLeftovers(
  isShown: IsShown,
  removed: Readonly<Record<EntryKind, readonly string[]>>,
): Promise<string[]> {
  const sentences: string[] = []
  for (const kind of ['user', 'group'] as const) {
    const last = removed[kind].at(-1)
    if (last === undefined || !(await isShown(kind, last))) continue
    const left = await shownOf(isShown, kind, removed[kind])
    const more = left.length > NAMED ? ` and ${left.length - NAMED} more` : ''
    sentences.push(
      `${left.length} ${kind}s are still there although the service said that they are deleted: ` +
        `${left.slice(0, NAMED).join(', ')}${more}`,
    )
  }
  return sentences
}

async function shownOf(isShown: IsShown, kind: EntryKind, ids: readonly string[]): Promise<string[]> {
  const left: string[] = []
  const waiting = [...ids]
  const lookUp = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      if (await isShown(kind, id)) left.push(id)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lookUp))
  return left.toSorted()
}
