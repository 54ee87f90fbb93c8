import { type LdapEntry, lookupIn } from '../entry.ts'
import { isGuid } from '../values.ts'
import type { Ask } from './ask.ts'
import { type ContextState, type ServerState, unite } from './server-state.ts'
import { decodeUpToDateVector } from './up-to-date-vector.ts'

const HINTS = ['dsServiceName', 'highestCommittedUSN'] as const
const NUMBER = /^\d{1,20}$/

/** The controller's own changes have an invocation id, new after a restore; the context's head has those of others. */
export async function readActiveDirectory(ask: Ask, contexts: readonly string[]): Promise<ServerState> {
  const root = await ask.values('', HINTS)
  const hints: Record<string, string> = {}
  for (const name of HINTS) {
    const [value] = root(name)
    if (value !== undefined) hints[name] = value
  }
  const own = await readOwn(ask, hints)
  const states: ContextState[] = []
  for (const context of contexts) {
    const head = await ask.entry(context, ['objectGUID', 'replUpToDateVector', 'msDS-masteredBy'])
    states.push({ context, ...(head === undefined ? NOTHING : headState(head, own)) })
  }
  return unite(states, hints)
}

const NOTHING = { database: undefined, origins: undefined }

interface OwnChanges {
  readonly invocationId: string
  readonly highest: string
}

async function readOwn(
  ask: Ask,
  { dsServiceName, highestCommittedUSN }: Partial<Record<string, string>>,
): Promise<OwnChanges | undefined> {
  if (dsServiceName === undefined || highestCommittedUSN === undefined) return undefined
  if (!NUMBER.test(highestCommittedUSN)) return undefined
  const settings = await ask.values(dsServiceName, ['invocationId'])
  const [invocationId] = settings('invocationId')
  if (invocationId === undefined || !isGuid(invocationId)) return undefined
  return { invocationId, highest: highestCommittedUSN }
}

function headState(head: LdapEntry, own: OwnChanges | undefined): Omit<ContextState, 'context'> {
  const lookup = lookupIn(head)
  const [database] = lookup('objectGUID')
  const [hex] = lookup('replUpToDateVector')
  const vector = hex === undefined ? undefined : Buffer.from(hex, 'hex')
  // Without a vector, there is one controller only, or this account cannot read it.
  const isAlone = lookup('msDS-masteredBy').length === 1
  const others =
    vector === undefined ? (isAlone ? new Map<string, string>() : undefined) : decodeUpToDateVector(vector)
  if (own === undefined || others === undefined) return { database, origins: undefined }
  return { database, origins: new Map([...others, [own.invocationId, own.highest]]) }
}
