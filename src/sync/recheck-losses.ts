import type { LossLook, Recheck } from '../core/entries/recheck.ts'
import type { SourceSnapshot } from '../core/entries/snapshot.ts'
import { judgeLoss, showsAll } from '../core/recheck/judge-loss.ts'
import { MembersNow } from '../core/recheck/members-now.ts'
import type { Source } from '../source/source.ts'
import type { Steps } from '../base/steps.ts'
import { inTurns } from '../base/turns.ts'

/**
 * Rechecks groups that would lose members, because users may have been renamed while users and groups were read one
 * after the other. Reads the lists first and the lost users next, by id. A user that is renamed in between keeps the DN
 * of the first read. Throws like `Source.read`.
 * @param losses for each id of a group, the ids of the users that it would lose
 */
export async function recheckLosses(
  source: Pick<Source, 'readIds' | 'readDns'>,
  { groups, seen, lists, names }: SourceSnapshot,
  losses: ReadonlyMap<string, readonly string[]>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, LossLook>> {
  const readDns = source.readDns?.bind(source)
  if (losses.size === 0 || lists === undefined || names === undefined || readDns === undefined)
    return new Map()
  const group = await source.readIds('group', [...losses.keys()], signal)
  const user = await source.readIds('user', [...new Set([...losses.values()].flat())], signal)
  await inTurns(names.prepare(), signal)
  const now = new MembersNow({ groups, seen, lists, names }, { user, group })
  let asked: readonly string[]
  do {
    asked = await inTurns(now.unknown(), signal)
    now.take(asked, asked.length === 0 ? new Map() : await readDns(asked, signal))
  } while (asked.length > 0)
  const renamed = await renamedSince(readDns, group, signal)
  const all = [...losses].map(([id, lost]) => {
    return { id, lost, entries: group.get(id)?.entries ?? [], wasRenamed: renamed.has(id) }
  })
  return await inTurns(judgeAll(all, now), signal)
}

function* judgeAll(
  losing: readonly Parameters<typeof judgeLoss>[0][],
  now: MembersNow,
): Steps<ReadonlyMap<string, LossLook>> {
  const listed = yield* now.listed()
  const looks = new Map<string, LossLook>()
  for (const group of losing) looks.set(group.id, yield* judgeLoss(group, now, listed))
  return looks
}

/** Users name groups by DN: what they name proves nothing of a group whose DN changed meanwhile. */
async function renamedSince(
  readDns: NonNullable<Source['readDns']>,
  groups: ReadonlyMap<string, Recheck>,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const told = [...groups].flatMap(([id, { entries = [] }]) =>
    entries.flatMap(({ group, normalDn }) => (group && !showsAll(group) ? [[id, normalDn] as const] : [])),
  )
  if (told.length === 0) return new Set()
  const shown = await readDns(
    told.map(([, dn]) => dn),
    signal,
  )
  return new Set(told.flatMap(([id, dn]) => (shown.get(dn)?.ids.group.includes(id) === true ? [] : [id])))
}
