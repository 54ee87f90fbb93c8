import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Pool } from 'pg'
import { DirsyncdError, sentence } from '../errors.ts'
import { parseDuration } from './duration.ts'
import {
  type FixtureDirectory,
  type FixtureOrganization,
  type FixtureToken,
  invalid,
  parseFixture,
} from './fixture-schema.ts'
import { openDatabase, type Trx } from './store/database.ts'
import { insertGroups } from './store/groups.ts'
import { hashToken } from './store/tokens.ts'
import { insertUsers } from './store/users.ts'

export interface FixtureResult {
  /** Ids of organizations that are new, and of those that existed and were left alone. */
  readonly created: readonly number[]
  readonly leftAlone: readonly number[]
}

/** Rows of one insert; PostgreSQL takes 65,535 parameters. */
const CHUNK = 1000

/**
 * Begins a store: creates the organizations of the fixture that do not exist, with all that belongs to them, and
 * leaves the others alone, all or nothing. Durations in `expires` count from `now`. `path` is the fixture's file,
 * for messages and for the token files that it names. Throws `DirsyncdError` (`config-invalid`, `secret-unavailable`).
 */
export async function loadFixture(
  pool: Pool,
  text: string,
  options: { readonly path: string; readonly now?: Date },
): Promise<FixtureResult> {
  const { organizations } = parseFixture(text, options.path)
  const now = options.now ?? new Date()
  const created: number[] = []
  const leftAlone: number[] = []
  await openDatabase(pool)
    .transaction()
    .execute(async (trx) => {
      for (const organization of organizations) {
        const isNew = await createOrganization(trx, organization, options.path, now)
        ;(isNew ? created : leftAlone).push(organization.id)
      }
    })
    .catch((error: unknown) => {
      throw alreadyTaken(error, options.path)
    })
  return { created, leftAlone }
}

/** An id or token of the fixture may belong to an organization that the store had before. */
function alreadyTaken(error: unknown, path: string): unknown {
  const { code, table, detail } = error as { code?: string; table?: string; detail?: string }
  if (code !== '23505') return error
  const what = table === 'tokens' ? 'a token' : `an id of its ${table} (${detail ?? ''})`
  return invalid(path, `${what} is in use by another organization of the store, or is there twice`)
}

async function createOrganization(
  trx: Trx,
  organization: FixtureOrganization,
  path: string,
  now: Date,
): Promise<boolean> {
  const { id, name, allowedDomains } = organization
  const created = await trx
    .insertInto('organizations')
    .values({ id, name, allowed_domains: allowedDomains, created_at: now })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .executeTakeFirst()
  if (created === undefined) return false
  for (const contact of organization.contacts) {
    const { tokens, ...row } = contact
    await trx
      .insertInto('contacts')
      .values({ ...row, organization_id: id })
      .execute()
    for (const token of tokens) await createToken(trx, contact.id, token, path, now)
  }
  for (const directory of organization.directories) await createDirectory(trx, id, directory)
  return true
}

async function createToken(
  trx: Trx,
  contactId: number,
  token: FixtureToken,
  path: string,
  now: Date,
): Promise<void> {
  const duration = parseDuration(token.expires)
  const row = {
    hash: token.sha256 ?? hashToken(await readToken(token.token, path)),
    contact_id: contactId,
    scopes: token.scopes,
    expires_at: duration === undefined ? new Date(token.expires) : new Date(now.getTime() + duration),
    created_at: now,
  }
  await trx.insertInto('tokens').values(row).execute()
}

async function readToken(token: FixtureToken['token'], path: string): Promise<string> {
  if (typeof token === 'string') return token
  const file = resolve(dirname(path), token?.file ?? '')
  const content = await readFile(file, 'utf8').catch((cause: unknown) => {
    const what = `The token file ${file} that the fixture ${path} names cannot be read: ${sentence(cause)}.`
    throw new DirsyncdError('secret-unavailable', what, { cause })
  })
  if (content.trim() === '') {
    const what = `The token file ${file} that the fixture ${path} names is empty; write the token into it.`
    throw new DirsyncdError('secret-unavailable', what)
  }
  return content.trim()
}

async function createDirectory(trx: Trx, organizationId: number, directory: FixtureDirectory): Promise<void> {
  const { users, groups, ...row } = directory
  await trx
    .insertInto('directories')
    .values({ ...row, organization_id: organizationId })
    .execute()
  for (let at = 0; at < users.length; at += CHUNK) {
    const rows = users.slice(at, at + CHUNK).map(({ external_id, email, name, employee_id }) => ({
      external_id: external_id ?? null,
      email: email ?? null,
      name: name ?? null,
      employee_id: employee_id ?? null,
    }))
    await insertUsers(trx, directory.id, rows)
  }
  for (let at = 0; at < groups.length; at += CHUNK) {
    const rows = groups.slice(at, at + CHUNK)
    await insertGroups(
      trx,
      directory.id,
      rows.map(({ external_id, name, external_member_ids: members }) => ({ external_id, name, members })),
    )
  }
}
