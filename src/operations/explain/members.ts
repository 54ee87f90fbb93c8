import type { DirectoryGroup, DirectoryUser, UserEntry } from '../../core/entries/entry.ts'
import type { Found } from '../../source/source.ts'
import { askDirectory, type ExplainDeps } from './sides.ts'

/** The users whose membership in one group may differ between the sides. */
export interface MembersInQuestion {
  readonly ids: readonly string[]
  /** Both sides list the same ids, whether or not they are users. */
  readonly isSame: boolean
  readonly source: readonly UserEntry[]
  readonly directory: readonly DirectoryUser[]
}

/** Each costs a request to the directory. */
const MOST_IN_QUESTION = 20

/** `undefined` where only a run can compare them: the source was not read as a whole, or too many differ. */
export async function membersInQuestion(
  deps: Pick<ExplainDeps, 'lookUp'>,
  { snapshot: { groups, seen }, everybody }: Found,
  group: DirectoryGroup,
): Promise<MembersInQuestion | undefined> {
  const wanted = groups.get(group.id)
  if (everybody === undefined || wanted === undefined) return undefined
  const [listed, there] = [new Set(wanted.members), new Set(group.members)]
  const ids = [...new Set([...wanted.members, ...group.members])].filter(
    (id) => !listed.has(id) || !there.has(id) || !seen.user.has(id),
  )
  if (ids.length > MOST_IN_QUESTION) return undefined
  const answers = await Promise.all(ids.map((id) => askDirectory(deps, { kind: 'user', id })))
  if (answers.some(({ error }) => error !== null)) return undefined
  return {
    ids,
    isSame: listed.size === there.size && wanted.members.every((id) => there.has(id)),
    source: ids.map((id) => everybody.get(id)).filter((user) => user !== undefined),
    directory: answers
      .map(({ entry }) => entry)
      .filter((entry): entry is DirectoryUser => entry !== null && !('members' in entry)),
  }
}
