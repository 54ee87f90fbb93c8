import type { Kind } from '../../directory/entry.ts'
import { byCodeUnit } from '../../directory/normalize.ts'
import { knownEntries } from '../../store/entry-history.ts'
import type { FoundEntry, Match } from '../story.ts'
import { type Asked, askDirectory, type ExplainDeps } from './sides.ts'

/** Everybody who may be meant, each user or group once. */
export async function matchesOf(
  deps: ExplainDeps,
  { found }: Asked,
  who: string,
  kinds: readonly Kind[],
): Promise<readonly Match[]> {
  const inSource = (found?.entries ?? []).map(matchOf)
  const isExact = inSource.some(({ id, from }) => id === who || from === who)
  const others = isExact ? [] : await inDirectory(deps, who, kinds)
  const known = inSource.length + others.length > 0 ? [] : await inStore(deps, who, kinds)
  const all = new Map<string, Match>()
  for (const match of [...inSource, ...others, ...known]) {
    const key = `${match.kind} ${match.id ?? match.from}`
    if (!all.has(key)) all.set(key, match)
  }
  return [...all.values()].toSorted(
    (a, b) => byCodeUnit(b.kind, a.kind) || byCodeUnit(a.id ?? a.from, b.id ?? b.from),
  )
}

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

/** The API finds nobody but by id. */
async function inDirectory(
  deps: ExplainDeps,
  who: string,
  kinds: readonly Kind[],
): Promise<readonly Match[]> {
  const matches: Match[] = []
  for (const kind of kinds) {
    const { entry } = await askDirectory(deps, { kind, id: who })
    if (entry === null) continue
    const email = 'email' in entry ? entry.email : null
    matches.push({ kind, id: who, name: entry.name, email, from: 'the directory' })
  }
  return matches
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
