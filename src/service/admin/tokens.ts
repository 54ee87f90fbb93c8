import { sql } from 'kysely'
import { DirsyncdError } from '../../base/errors.ts'
import type { AdminDeps } from './deps.ts'
import { inTurn } from './in-turn.ts'
import { requireResource, unknownId } from '../resources/write.ts'

/** The token cannot be derived from it. */
export interface TokenView {
  /** The first characters of the token's hash. */
  readonly id: string
  readonly contactId: number
  readonly contact: string
  readonly organizationId: number
  readonly scopes: readonly string[]
  readonly createdAt: string
  readonly expiresAt: string
  readonly expired: boolean
}

const ID_LENGTH = 12

export async function addToken(
  deps: AdminDeps,
  token: {
    readonly contactId: number
    readonly hash: string
    readonly scopes: string[]
    readonly expiresAt: string
  },
): Promise<TokenView> {
  const { now } = deps
  const expiresAt = new Date(token.expiresAt)
  if (expiresAt <= now()) {
    throw new DirsyncdError(
      'usage',
      `The token would expire at ${expiresAt.toISOString()}, which is in the past.`,
    )
  }
  await inTurn(deps, async (trx) => {
    await requireResource(trx, 'contact', token.contactId)
    const row = {
      hash: token.hash,
      contact_id: token.contactId,
      scopes: [...new Set(token.scopes)],
      expires_at: expiresAt,
      created_at: now(),
    }
    await trx.insertInto('tokens').values(row).execute()
  })
  const [view] = await selectTokens(deps, { hash: token.hash })
  return view!
}

export async function listTokens(
  deps: AdminDeps,
  filter: { readonly contactId?: number | undefined },
): Promise<readonly TokenView[]> {
  if (filter.contactId !== undefined) await requireResource(deps.db, 'contact', filter.contactId)
  return selectTokens(deps, filter)
}

/** Every process of the service refuses the next request with the token. */
export async function revokeToken(deps: AdminDeps, { id }: { readonly id: string }): Promise<TokenView> {
  const [token, another] = await selectTokens(deps, { prefix: id })
  if (token === undefined) throw unknownId('token', id)
  if (another !== undefined) {
    throw new DirsyncdError(
      'usage',
      `Several tokens have an id that begins with ${id}; give the whole id that access-service token list shows.`,
    )
  }
  await deps.db.deleteFrom('tokens').where('hash', 'like', `${id}%`).execute()
  return token
}

interface TokenFilter {
  readonly contactId?: number | undefined
  readonly hash?: string
  readonly prefix?: string
}

async function selectTokens(
  { db, now }: AdminDeps,
  { contactId, hash, prefix }: TokenFilter,
): Promise<TokenView[]> {
  const rows = await db
    .selectFrom('tokens as t')
    .innerJoin('contacts as c', 'c.id', 't.contact_id')
    .select([
      sql<string>`left(t.hash, ${sql.lit(ID_LENGTH)})`.as('id'),
      'c.id as contactId',
      'c.name as contact',
      'c.organization_id as organizationId',
      't.scopes',
      't.created_at as createdAt',
      't.expires_at as expiresAt',
    ])
    .$if(contactId !== undefined, (query) => query.where('t.contact_id', '=', contactId!))
    .$if(hash !== undefined, (query) => query.where('t.hash', '=', hash!))
    .$if(prefix !== undefined, (query) => query.where('t.hash', 'like', `${prefix}%`))
    .orderBy('t.created_at')
    .orderBy('t.hash')
    .execute()
  return rows.map((row) => ({
    ...row,
    createdAt: row.createdAt.toISOString(),
    expiresAt: row.expiresAt.toISOString(),
    expired: row.expiresAt <= now(),
  }))
}
