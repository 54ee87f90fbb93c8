import { type Expression, sql } from 'kysely'
import type { ExternalGroup } from '../../api/contract/resources.ts'
import type { Page, PageRequest } from '../http/paging.ts'
import { startOfPage, uncountEntry } from './blocks.ts'
import { type Database, SCHEMA, type Trx } from './database.ts'

export interface NewGroup {
  readonly external_id: string
  readonly name: string
  readonly members: readonly string[]
}

/** A group with its internal id, which no endpoint shows. */
export interface GroupRow extends Readonly<ExternalGroup> {
  readonly id: number
}

/** The state before and after an update; `fields` are those that it changed. */
export interface GroupUpdate {
  readonly nameBefore: string
  readonly after: GroupRow
  readonly fields: readonly ('name' | 'members')[]
}

const MEMBERS = sql.id(SCHEMA, 'group_members')

/** The ids of a group's members, sorted byte by byte. */
function memberIds(groupId: Expression<number>) {
  return sql<string[]>`coalesce(
    (select json_agg(m.external_id order by m.external_id) from ${MEMBERS} m where m.group_id = ${groupId}), '[]'
  )`
}

/** A page by id, and the total from the same snapshot; `undefined` where the organization has no such directory. */
export async function listGroups(
  db: Database,
  organizationId: number,
  directoryId: number,
  page: PageRequest,
): Promise<Page<ExternalGroup> | undefined> {
  const rows = await db
    .selectFrom('directories as d')
    .leftJoinLateral(startOfPage('group', page).as('start'), (join) => join.onTrue())
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('external_groups')
          .select(['id', 'external_id', 'name'])
          .whereRef('external_groups.directory_id', '=', 'd.id')
          .whereRef('external_groups.id', '>=', 'start.first_id')
          .orderBy('id')
          .limit(page.perPage)
          .offset(eb.ref('start.skip').$notNull())
          .as('g'),
      (join) => join.onTrue(),
    )
    .select(['d.group_count as total', 'g.external_id', 'g.name'])
    .select((eb) => memberIds(eb.ref('g.id').$castTo<number>()).as('external_member_ids'))
    .where('d.id', '=', directoryId)
    .where('d.organization_id', '=', organizationId)
    .orderBy('g.id')
    .execute()
  const [first] = rows
  if (first === undefined) return undefined
  const items = rows.flatMap(({ external_id, name, external_member_ids }) => {
    return external_id === null || name === null ? [] : [{ external_id, name, external_member_ids }]
  })
  return { items, total: first.total }
}

/** The oldest group with that external id. */
export async function findGroup(
  db: Database,
  organizationId: number,
  directoryId: number,
  externalId: string,
): Promise<ExternalGroup | undefined> {
  return db
    .selectFrom('external_groups as g')
    .innerJoin('directories as d', 'd.id', 'g.directory_id')
    .select(['g.external_id', 'g.name'])
    .select((eb) => memberIds(eb.ref('g.id')).as('external_member_ids'))
    .where('d.id', '=', directoryId)
    .where('d.organization_id', '=', organizationId)
    .where('g.external_id', '=', externalId)
    .orderBy('g.id')
    .limit(1)
    .executeTakeFirst()
}

/** Updates the oldest group with that external id; members that are `undefined` stay as they are. */
export async function updateGroup(
  trx: Trx,
  directoryId: number,
  externalId: string,
  values: { readonly name: string; readonly members: readonly string[] | undefined },
): Promise<GroupUpdate | undefined> {
  const group = await oldestGroup(trx, directoryId, externalId)
  if (group === undefined) return undefined
  const fields: ('name' | 'members')[] = []
  if (values.name !== group.name) {
    await trx.updateTable('external_groups').set({ name: values.name }).where('id', '=', group.id).execute()
    fields.push('name')
  }
  if (values.members !== undefined && (await setMembers(trx, directoryId, group.id, values.members))) {
    fields.push('members')
  }
  return { nameBefore: group.name, after: await readGroup(trx, group.id), fields }
}

/** Deletes and returns the oldest group with that external id. */
export async function deleteGroup(
  trx: Trx,
  directoryId: number,
  externalId: string,
): Promise<OldestGroup | undefined> {
  const group = await oldestGroup(trx, directoryId, externalId)
  if (group === undefined) return undefined
  await trx.deleteFrom('external_groups').where('id', '=', group.id).execute()
  await uncountEntry(trx, directoryId, 'group', group.id)
  return group
}

/** Returns whether this changed the members. */
async function setMembers(
  trx: Trx,
  directoryId: number,
  groupId: number,
  members: readonly string[],
): Promise<boolean> {
  const gone =
    await sql`delete from ${MEMBERS} where group_id = ${groupId} and external_id <> all(${members}::text[])`.execute(
      trx,
    )
  const added = await addMembers(trx, directoryId, groupId, members)
  return added || gone.numAffectedRows !== 0n
}

/** Returns whether any of them was not a member yet. */
async function addMembers(
  trx: Trx,
  directoryId: number,
  groupId: number,
  members: readonly string[],
): Promise<boolean> {
  if (members.length === 0) return false
  const added = await sql`insert into ${MEMBERS} (group_id, directory_id, external_id)
    select ${groupId}::integer, ${directoryId}::integer, unnest(${members}::text[])
    on conflict do nothing`.execute(trx)
  return added.numAffectedRows !== 0n
}

type OldestGroup = Pick<GroupRow, 'id' | 'external_id' | 'name'>

async function oldestGroup(
  trx: Trx,
  directoryId: number,
  externalId: string,
): Promise<OldestGroup | undefined> {
  return trx
    .selectFrom('external_groups')
    .select(['id', 'external_id', 'name'])
    .where('directory_id', '=', directoryId)
    .where('external_id', '=', externalId)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
}

async function readGroup(trx: Trx, id: number): Promise<GroupRow> {
  return trx
    .selectFrom('external_groups as g')
    .select(['g.id', 'g.external_id', 'g.name'])
    .select((eb) => memberIds(eb.ref('g.id')).as('external_member_ids'))
    .where('g.id', '=', id)
    .executeTakeFirstOrThrow()
}
