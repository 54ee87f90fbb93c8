import type { LossLook } from '../../../core/entries/evidence.ts'
import type { CompiledOptions } from '../compile.ts'
import { requireLookup } from '../recheck.ts'
import type { Reading } from '../read-place.ts'
import type { Losses } from './second-look.ts'
import { judge } from './judge.ts'
import { membersDemanded } from './schema.ts'
import { isMemberOfShown, readAgain, showsAll } from './read-again.ts'

/**
 * Rechecks groups that would lose members. Their lists are read first and the lost users next, by id: a user who is
 * renamed in between is still known by the DN of the first read. Throws like `readPlace`.
 */
export async function lookAtLosses(
  reading: Reading,
  options: CompiledOptions,
  losses: Losses,
): Promise<ReadonlyMap<string, LossLook>> {
  const { connection, pageSize } = reading
  const { groups } = options
  if (groups === undefined) throw new Error('a source without groups has no losses')
  const compiled = { ...options, groups }
  for (const place of [groups, options.users]) await requireLookup(connection, { ...place, pageSize })
  const second = await readAgain(reading, compiled, losses)
  const emptied = [...second.lists.values()].filter((list) => !showsAll(list, second))
  const facts = {
    demanded: await membersDemanded(connection, compiled, emptied),
    memberOfShown: emptied.length > 0 && (await isMemberOfShown(reading, compiled.users, second)),
  }
  const looks = [...losses.lost].map(([id, lost]) => {
    const before = losses.snapshot.groups.get(id)
    const group = { id, dn: before?.from ?? id, lost, members: before?.members ?? [] }
    return [id, judge(group, groups, second, facts)] as const
  })
  return new Map(looks)
}
