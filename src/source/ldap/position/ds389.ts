import type { Lookup } from '../../mapping.ts'
import { normalizeDn } from '../dn.ts'
import { type LdapEntry, lookupIn } from '../entry.ts'
import type { Ask } from './ask.ts'
import { type ContextState, type ServerState, unite } from './server-state.ts'

const MAPPING_TREE = 'cn=mapping tree,cn=config'
/** The name of the server, the time of its last import, and the last change number of each backend. */
const HINTS = ['netscapemdsuffix', 'dataversion', 'lastusn'] as const

/**
 * 389-ds and FreeIPA keep the newest change of each replica below `cn=config`, which ordinary accounts can read only if
 * an administrator lets them. All accounts can read the hints in the root DSE.
 */
export async function readDs389(ask: Ask, contexts: readonly string[]): Promise<ServerState> {
  const root = await ask.entry('', HINTS)
  const replicas = await ask.below(MAPPING_TREE, 'nsds5replica', ['nsDS5ReplicaRoot', 'nsds50ruv'])
  const lookups = replicas.map((replica) => lookupIn(replica))
  return unite(
    contexts.map((context) => contextState(context, lookups)),
    root === undefined ? {} : hintsOf(root),
  )
}

function contextState(context: string, replicas: readonly Lookup[]): ContextState {
  const replica = replicas.find((each) => each('nsDS5ReplicaRoot').some((dn) => normalizeDn(dn) === context))
  const vector = replica?.('nsds50ruv') ?? []
  const generation = vector.map((value) => GENERATION.exec(value)?.[1]).find((each) => each !== undefined)
  return { context, database: generation, origins: generation === undefined ? undefined : originsOf(vector) }
}

const GENERATION = /^\{replicageneration\} ([0-9a-f]+)$/i
/** A replica's id and URL, and its oldest and newest change; a replica that has changed nothing has neither. */
const REPLICA = /^\{replica (\d+)[^}]*\}(?: [0-9a-f]{20} ([0-9a-f]{20}))?/i

function originsOf(vector: readonly string[]): ReadonlyMap<string, string> {
  const origins = new Map<string, string>()
  for (const value of vector) {
    const [, replicaId, newest] = REPLICA.exec(value) ?? []
    if (replicaId !== undefined && newest !== undefined) origins.set(replicaId, newest.toLowerCase())
  }
  return origins
}

function hintsOf(root: LdapEntry): Record<string, string> {
  const hints: Record<string, string> = {}
  for (const [name, [value]] of root.attributes) {
    const [plain = ''] = name.split(';')
    if (value !== undefined && HINTS.some((hint) => hint === plain)) hints[name] = signed(value)
  }
  return hints
}

/** A backend without a change has -1, which some versions write as an unsigned number. */
function signed(value: string): string {
  return /^\d{19,20}$/.test(value) ? String(BigInt.asIntN(64, BigInt(value))) : value
}
