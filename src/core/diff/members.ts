import { PART, type Steps } from '../../base/steps.ts'
import type { DirectoryGroup, GroupEntry } from '../entries/entry.ts'

/** The members that a group would get and lose, by code unit. */
export interface MemberDifference {
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

interface MemberTests {
  /** Whether the user can become a member: it is in the source and not excluded. */
  readonly mayJoin: (id: string) => boolean
  /** Whether the user's memberships stay as they are: it was read and skipped, or is excluded. */
  readonly isLeftAlone: (id: string) => boolean
}

/** Compares two sorted lists; `undefined` where nothing differs. */
export function* diffMembers(
  { members: wanted }: Pick<GroupEntry, 'members'>,
  have: Pick<DirectoryGroup, 'members'> | undefined,
  { mayJoin, isLeftAlone }: MemberTests,
): Steps<MemberDifference | undefined> {
  const there = have?.members ?? []
  const added: string[] = []
  const removed: string[] = []
  let [at, other] = [0, 0]
  while (at < wanted.length || other < there.length) {
    const [want, has] = [wanted[at], there[other]]
    if (want === has) [at, other] = [at + 1, other + 1]
    else if (has === undefined || (want !== undefined && want < has)) {
      if (mayJoin(want!)) added.push(want!)
      at += 1
    } else {
      if (!isLeftAlone(has)) removed.push(has)
      other += 1
    }
    if ((at + other) % PART === 0) yield
  }
  return added.length + removed.length === 0 ? undefined : { added, removed }
}
