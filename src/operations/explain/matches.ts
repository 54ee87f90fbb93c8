import type { Kind } from '../../core/entries/entry.ts'
import { byCodeUnit } from '../../base/order.ts'
import { knownEntries } from './earlier-runs.ts'
import type { FoundEntry, Match } from '../story.ts'
import { type Asked, askDirectory, type ExplainDeps } from './sides.ts'

interface Matches {
  readonly matches: readonly Match[]
  readonly directoryError: string | null
}

/** Every match once: users first, then by id. */
export async function matchesOf(
  deps: ExplainDeps,
  { found }: Asked,
  who: string,
  kinds: readonly Kind[],
): Promise<Matches> {
  const inSource = (found?.entries ?? []).map(matchOf)
  const isExact = inSource.some(({ id, from }) => id === who || from === who)
  const { matches: others, directoryError } = isExact ? NOT_ASKED : await inDirectory(deps, who, kinds)
  const known = inSource.length + others.length > 0 ? [] : await inStore(deps, who, kinds)
  const all = new Map<string, Match>()
  for (const match of [...inSource, ...others, ...known]) {
    const key = `${match.kind} ${match.id ?? match.from}`
    if (!all.has(key)) all.set(key, match)
  }
  const matches = [...all.values()].toSorted(
    (a, b) => byCodeUnit(b.kind, a.kind) || byCodeUnit(a.id ?? a.from, b.id ?? b.from),
  )
  return { matches, directoryError }
}

const NOT_ASKED: Matches = { matches: [], directoryError: null }

export function matchOf({ kind, ids, from, fields }: FoundEntry): Match {
  const valueOf = (name: string) => fields.find(({ field }) => field === name)?.value ?? null
  return {
    kind,
    id: ids.length === 1 ? ids[0]! : null,
    name: valueOf('name'),
    email: valueOf('email'),
    from,
  }
}

/** The API finds entries by id only. */
async function inDirectory(deps: ExplainDeps, who: string, kinds: readonly Kind[]): Promise<Matches> {
  const answers = await Promise.all(
    kinds.map(async (kind) => ({ kind, ...(await askDirectory(deps, { kind, id: who })) })),
  )
  const matches = answers.flatMap(({ kind, entry }) => {
    if (entry === null) return []
    const email = 'email' in entry ? entry.email : null
    return [{ kind, id: who, name: entry.name, email, from: 'the directory' }]
  })
  return { matches, directoryError: answers.find(({ error }) => error !== null)?.error ?? null }
}

async function inStore(
  { db, target }: ExplainDeps,
  who: string,
  kinds: readonly Kind[],
): Promise<readonly Match[]> {
  const known = await knownEntries(db, target, who)
  const byId = known.filter(({ id }) => id === who)
  return (byId.length > 0 ? byId : known)
    .filter(({ kind }) => kinds.includes(kind))
    .map((entry) => ({ ...entry, from: 'an earlier run' }))
}
