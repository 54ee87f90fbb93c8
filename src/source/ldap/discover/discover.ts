import type { Log } from '../../../base/log/log.ts'
import { dnKey } from '../dn.ts'
import { type LdapEntry, lookupIn } from '../entry.ts'
import { PROFILES } from '../vendor.ts'
import { count, type LookingFor } from './count.ts'
import { anyGroup, GROUP_MEMBERS } from './kinds.ts'
import { emailProposals, MailDomains } from './emails.ts'
import { nameProposals, NameTally } from './names.ts'
import {
  employeeIdProposals,
  type Id,
  ID_ATTRIBUTES,
  idProposals,
  type Proposal,
  USER_ATTRIBUTES,
} from './propose.ts'
import type { ServerOptions } from './server.ts'
import { type FoundPlace, Tally } from './tally.ts'

export interface FoundEntries {
  readonly filter: string
  readonly entries: number
  /** Why these are not all; `undefined` where they are. */
  readonly cut: string | undefined
  readonly places: readonly FoundPlace[]
}

export interface FoundPeople extends FoundEntries {
  readonly severalMails: number
  /** Disabled accounts, where the vendor has a rule for them. */
  readonly disabled: number
  readonly ids: readonly Id[]
  readonly emails: readonly Proposal[]
  readonly names: readonly Proposal[]
  readonly employeeIds: readonly Proposal[]
}

export interface FoundGroups extends FoundEntries {
  /** The attributes that list members, the most frequent first. */
  readonly members: readonly string[]
  readonly ids: readonly Id[]
  /** Groups with a member group, also one that the filter leaves out. */
  readonly nested: number
  readonly ofAll: Pick<FoundEntries, 'entries' | 'places' | 'cut'>
}

const MOST_PLACES = 100

/** Rejects like `Source.read`. */
export async function discoverPeople(
  options: ServerOptions,
  looking: LookingFor,
  log: Log,
  signal: AbortSignal,
): Promise<FoundPeople> {
  const { idAttribute, disabledWhen } = PROFILES[looking.vendor]
  const tally = new Tally(USER_ATTRIBUTES)
  const search = { options, looking, filter: looking.filter, attributes: USER_ATTRIBUTES }
  let severalMails = 0
  const [domains, names] = [new MailDomains(), new NameTally()]
  const cut = await count(search, log, signal, (entry) => {
    tally.add(entry)
    const lookup = lookupIn(entry)
    if (lookup('mail').length > 1) severalMails += 1
    domains.add(lookup('mail'))
    names.add(lookup)
  })
  const disabled = new Tally([])
  if (disabledWhen !== undefined) {
    const filter = `(&${looking.filter}${disabledWhen})`
    await count({ ...search, filter, attributes: [] }, log, signal, (entry) => disabled.add(entry))
  }
  return {
    ...foundIn(tally, looking.filter, cut),
    severalMails,
    disabled: disabled.entries,
    ids: idProposals(tally, idAttribute),
    emails: emailProposals(tally, domains),
    names: nameProposals(tally, names),
    employeeIds: employeeIdProposals(tally),
  }
}

/** Rejects like `Source.read`. */
export async function discoverGroups(
  options: ServerOptions,
  looking: LookingFor,
  log: Log,
  signal: AbortSignal,
): Promise<FoundGroups> {
  const { filter } = looking
  const wanted = [...GROUP_MEMBERS, ...ID_ATTRIBUTES]
  const [tally, all, nesting] = [new Tally(wanted), new Tally([]), new Nesting()]
  const cut = await count({ options, looking, filter, attributes: wanted }, log, signal, (entry) => {
    tally.add(entry)
    nesting.addGroup(entry)
  })
  const every = { options, looking, filter: `(|${filter}${anyGroup(looking.vendor)})`, attributes: [] }
  const cutOfAll = await count(every, log, signal, (entry) => {
    all.add(entry)
    nesting.addName(entry)
  })
  const members = GROUP_MEMBERS.filter((name) => tally.having([[name]]) > 0)
  return {
    ...foundIn(tally, filter, cut),
    members: members.toSorted((a, b) => tally.having([[b]]) - tally.having([[a]])),
    ids: idProposals(tally, PROFILES[looking.vendor].idAttribute),
    nested: nesting.count(),
    ofAll: foundIn(all, filter, cutOfAll),
  }
}

function foundIn(tally: Tally, filter: string, cut: string | undefined): FoundEntries {
  return { filter, entries: tally.entries, cut, places: tally.places(MOST_PLACES) }
}

/** Groups that are members of groups. Remembers the members of a bounded number of groups. */
class Nesting {
  readonly #groups = new Set<string>()
  readonly #members: (readonly string[])[] = []

  addName({ dn }: LdapEntry): void {
    this.#groups.add(dnKey(dn))
  }

  addGroup(entry: LdapEntry): void {
    const lookup = lookupIn(entry)
    if (this.#members.length < MOST_LOOKED_AT) {
      this.#members.push([...lookup('member'), ...lookup('uniqueMember')].slice(0, MOST_LOOKED_AT))
    }
  }

  count(): number {
    return this.#members.filter((members) => members.some((dn) => this.#groups.has(dnKey(dn)))).length
  }
}

/** Groups, and members of each. */
const MOST_LOOKED_AT = 2_000
