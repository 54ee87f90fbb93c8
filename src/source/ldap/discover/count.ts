import { digits } from '../../../base/wording.ts'
import { DirsyncdError } from '../../../base/errors.ts'
import type { Log } from '../../../base/log/log.ts'
import type { LdapEntry } from '../entry.ts'
import { parseFilter } from '../filter.ts'
import type { Vendor } from '../options.ts'
import { searchAll } from '../search.ts'
import { PROFILES } from '../vendor.ts'
import { type ServerOptions, withServer } from './server.ts'

export interface Looking {
  readonly vendor: Vendor
  readonly bases: readonly string[]
}

export interface LookingFor extends Looking {
  readonly filter: string
}

/** A proposal needs no more. */
const MOST_ENTRIES = 200_000
const LONGEST_MS = 60_000
const PAGE_SIZE = 1000

export interface Counting {
  readonly options: ServerOptions
  readonly looking: Looking
  readonly filter: string
  readonly attributes: readonly string[]
  readonly most?: number
}

class Enough extends Error {}

/** Passes on the entries of each base. Resolves with why some are missing, if any. */
export async function count(
  { options, looking, filter, attributes, most = MOST_ENTRIES }: Counting,
  log: Log,
  signal: AbortSignal,
  onEntry: (entry: LdapEntry) => void,
): Promise<string | undefined> {
  const { paging, mostPerPage = PAGE_SIZE } = PROFILES[looking.vendor]
  const deadline = performance.now() + LONGEST_MS
  let entries = 0
  const take = (entry: LdapEntry) => {
    onEntry(entry)
    entries += 1
    if (entries === most) throw new Enough(`only the first ${digits(entries)} were looked at`)
    if (entries % PAGE_SIZE === 0 && performance.now() > deadline)
      throw new Enough(`only the ${digits(entries)} that came within ${LONGEST_MS / 1000} s were looked at`)
  }
  const search = {
    scope: 'sub',
    filter: parseFilter(filter, 'filter'),
    filterText: filter,
    attributes,
    pageSize: paging ? mostPerPage : undefined,
  } as const
  try {
    await withServer(options, log, signal, async (server) => {
      for (const base of looking.bases) await searchAll(server, { ...search, base }, take)
    })
    return undefined
  } catch (error) {
    if (error instanceof Enough) return error.message
    // A server limit for this account: the entries before it suffice for a proposal.
    if (
      error instanceof DirsyncdError &&
      error.code === 'source-incomplete' &&
      entries > 0 &&
      !signal.aborted
    )
      return error.message
    throw error
  }
}
