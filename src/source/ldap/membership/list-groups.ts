import { type ListedGroup, type MemberList, TOLD, byName, listOf } from '../../../core/entries/groups.ts'
import { forEachOfSizeInSteps, type Steps } from '../../../base/steps.ts'
import { usableId } from '../../collect.ts'
import type { GroupPlace } from '../compile.ts'
import { dnKey, normalizeDn } from '../dn.ts'
import type { GroupRecord } from '../image.ts'
import type { LdapImage } from '../read-image.ts'

export interface GroupOfRead {
  readonly record: GroupRecord
  /** Its normal DN. */
  readonly dn: string
  readonly listed: ListedGroup
}

/** All groups of a read, those of the filter last. */
export function* listGroups(image: LdapImage, { nested }: GroupPlace): Steps<readonly GroupOfRead[]> {
  const all = [...image.others, ...image.groups].map((record) => ({ record, dn: dnKey(record.dn) }))
  const known = new Set(nested === 'flatten' ? all.map(({ dn }) => dn) : [])
  const children = yield* byName(nested === 'flatten' ? all : [], ({ record }) => record.memberOf)
  const read: GroupOfRead[] = []
  yield* forEachOfSizeInSteps(all, sizeOf, function* ({ record, dn }) {
    const { ids, memberOf, lists } = record
    const id = usableId({ ids }) ?? ''
    const within = (children.get(dn) ?? []).map((child) => child.dn)
    const told = yield* toldLists(image, record, nested === 'in-chain' ? undefined : dn, within)
    const own = lists.map(({ attribute, users, nonUsers }) => {
      const dns = nonUsers.map(normalizeDn).filter((name) => name !== undefined)
      return listOf(attribute, users, dns, known)
    })
    read.push({
      record,
      dn,
      listed: { key: id === '' ? dn : id, id, dn: record.dn, lists: [...own, ...told], memberOf },
    })
  })
  return read
}

function sizeOf({ record: { lists } }: { readonly record: GroupRecord }): number {
  return lists.reduce((sum, { users, nonUsers }) => sum + users.length + nonUsers.length, 0)
}

/** The members that the group itself does not list. @param dn by which users name it */
function* toldLists(
  { users }: LdapImage,
  { primaryNames, chained }: GroupRecord,
  dn: string | undefined,
  nested: readonly string[],
): Steps<readonly MemberList[]> {
  const naming = dn === undefined ? [] : yield* users.idsNaming(dn)
  const primary: string[][] = []
  for (const name of primaryNames) primary.push(yield* users.idsOfPrimary(name))
  const told = [
    { ...listOf(TOLD.byUsers, naming), nested },
    listOf(TOLD.byPrimaryGroup, primary.flat()),
    listOf(
      TOLD.inChain,
      chained.filter((id) => users.collector.knowsUser(id)),
    ),
  ]
  return told.filter((list) => list.users.length + list.nested.length > 0)
}
