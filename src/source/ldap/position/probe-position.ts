import { digits } from '../../../base/wording.ts'
import type { ProbeLine } from '../../source.ts'
import type { CompiledOptions } from '../compile.ts'
import type { OpenServer } from '../connection/servers.ts'
import { readServerState } from './position.ts'

/** The lines of `dirsyncd check` about the number of servers and the replication state of this one. */
export async function probePosition(
  connection: OpenServer,
  compiled: CompiledOptions,
): Promise<readonly ProbeLine[]> {
  const { position, hints } = await readServerState(connection, compiled)
  const servers = serversLine(connection)
  if (position === undefined) return [servers, hiddenLine(connection, compiled, Object.keys(hints))]
  const [first] = Object.entries(position).map(([key, value]) => `${key} at ${value}`)
  const origins = Object.keys(position).length
  const shown =
    origins > 1 ? `the changes of ${digits(origins)} origins, such as ${first}` : (first ?? 'no change yet')
  return [
    servers,
    {
      label: 'position',
      detail: `${shown}; a sync compares it with that of its last good read`,
      level: 'ok',
    },
  ]
}

function serversLine({ address, addresses }: OpenServer): ProbeLine {
  const label = 'servers'
  if (addresses === 1) return { label, detail: `one address, ${address}`, level: 'info' }
  const detail = `${digits(addresses)} addresses, now ${address}; each run first tries that of the last good one`
  return { label, detail, level: 'info' }
}

/** With one server, only a restore matters. With several, deletes have to wait. */
function hiddenLine(
  { addresses, rootDse }: OpenServer,
  { profile }: CompiledOptions,
  hints: readonly string[],
): ProbeLine {
  const label = 'position'
  const only = hints.length === 0 ? '' : ` (only ${hints.join(', ')})`
  const effect =
    addresses > 1 ? 'deletes wait until a second read confirms them' : 'a restored server may not be noticed'
  const unknown = rootDse === undefined ? 'let the reader see the root DSE' : undefined
  const remedy = unknown ?? REMEDIES[profile.vendor]
  const detail = `the server does not show how new its data is${only}, so ${effect}; ${remedy}`
  return { label, detail, level: addresses > 1 ? 'warn' : 'info' }
}

const ON_389 =
  'to change that, let the reader read nsDS5ReplicaRoot and nsds50ruv below "cn=mapping tree,cn=config"'
const NO_REMEDY = 'servers of this vendor have nothing of the kind'

const REMEDIES: Readonly<Record<CompiledOptions['profile']['vendor'], string>> = {
  openldap:
    'to change that, let the reader read contextCSN and entryUUID of the suffix; the overlay syncprov keeps contextCSN',
  'active-directory':
    'to change that, let the reader read replUpToDateVector of the domain and invocationId of its controllers',
  '389ds': ON_389,
  freeipa: ON_389,
  lldap: NO_REMEDY,
  generic: NO_REMEDY,
}
