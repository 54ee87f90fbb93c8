import { isDeepStrictEqual } from 'node:util'
import type { Difference } from '../../../core/block.ts'
import { type ServerEvidence, changedHint, comparePositions } from '../../../core/entries/position.ts'
import { DirsyncdError } from '../../../base/errors.ts'
import type { CompiledOptions } from '../compile.ts'
import type { OpenServer } from '../connection/servers.ts'
import { readActiveDirectory } from './active-directory.ts'
import { createAsk } from './ask.ts'
import { readDs389 } from './ds389.ts'
import { namingContextsOf } from './naming-contexts.ts'
import { readOpenLdap } from './openldap.ts'
import type { ServerState } from './server-state.ts'

/** Proves that one server answered the whole read, with data that became no older. */
export async function readWithEvidence<T>(
  connection: OpenServer,
  compiled: CompiledOptions,
  read: () => Promise<T>,
): Promise<readonly [T, ServerEvidence]> {
  const before = await readServerState(connection, compiled)
  const result = await read()
  const after = await readServerState(connection, compiled)
  const change = changeBetween(before, after)
  if (change !== undefined) throw changed(connection, change)
  const { endpoint, address, addresses } = connection
  const hasMoved = !isDeepStrictEqual(before.position, after.position)
  const positionAtStart = hasMoved ? { positionAtStart: before.position } : {}
  return [result, { url: endpoint.url, address, addresses, ...after, ...positionAtStart }]
}

/**
 * Reads database and position, in at most two requests and one for each naming context. Facts that this account cannot
 * read are left out. Rejects with `source-incomplete` where the connection fails.
 */
export async function readServerState(
  connection: OpenServer,
  { profile, users, groups }: CompiledOptions,
): Promise<ServerState> {
  const ask = createAsk(connection)
  const bases = [...users.bases, ...(groups?.bases ?? [])]
  const contexts = namingContextsOf(bases, connection.rootDse) ?? []
  switch (profile.vendor) {
    case 'openldap':
      return readOpenLdap(ask, contexts)
    case 'active-directory':
      return readActiveDirectory(ask, contexts)
    case '389ds':
    case 'freeipa':
      return readDs389(ask, contexts)
    case 'lldap':
    case 'generic':
      return { database: undefined, position: undefined, hints: {} }
  }
}

/** Why these two states are not of one server that goes forward. */
function changeBetween(before: ServerState, after: ServerState): Difference | undefined {
  if (before.database !== after.database)
    return { key: 'database', known: before.database ?? null, seen: after.database ?? null }
  const hint = changedHint(before.hints, after.hints)
  if (hint !== undefined) return hint
  if (before.position === undefined || after.position === undefined) {
    if (before.position === after.position) return undefined
    return { key: 'position', known: shown(before), seen: shown(after) }
  }
  const comparison = comparePositions(
    { ...before, position: before.position },
    { ...after, position: after.position },
  )
  return 'lacks' in comparison ? comparison.lacks : undefined
}

function shown({ position }: ServerState): string | null {
  return position === undefined ? null : 'shown'
}

function changed({ endpoint }: OpenServer, { key, known, seen }: Difference): DirsyncdError {
  const what = `${endpoint.url}: another or an older server answered before the read had ended`
  const proof = `${key} was ${known ?? 'not shown'} at the beginning, and is ${seen ?? 'not shown'} at the end`
  return new DirsyncdError(
    'source-incomplete',
    `${what} (${proof}); the next run reads again from the beginning`,
  )
}
