import { type Filter, PagedResultsControl, SearchRequest } from 'ldapts'
import { DirsyncdError } from '../../base/errors.ts'
import type { LdapConnection } from './connection/connection.ts'
import type { LdapResult, SentEntry } from './connection/message.ts'
import type { LdapEntry } from './entry.ts'
import { ANYTHING } from './filter.ts'
import type { SearchScope } from './options.ts'
import {
  ADMIN_LIMIT_EXCEEDED,
  INSUFFICIENT_ACCESS,
  INVALID_DN,
  NO_SUCH_OBJECT,
  REFERRAL,
  remedyFor,
  resultInWords,
  SIZE_LIMIT_EXCEEDED,
  SUCCESS,
} from './connection/result.ts'
import type { Doing } from './connection/wire.ts'

/** Active Directory sends empty pages while it looks for matches; a server that sends nothing else is stuck. */
const MOST_EMPTY_PAGES = 1000

/** A page of users is shorter; one of large groups may be thousands of times as long. */
const MOST_BACKLOG_BYTES = 1024 * 1024

export interface Search {
  readonly base: string
  readonly scope: SearchScope
  readonly filter: Filter
  /** For sentences. */
  readonly filterText: string
  readonly attributes: readonly string[]
  /** `undefined`: no paging. */
  readonly pageSize: number | undefined
}

export interface SearchTotals {
  readonly entries: number
  readonly pages: number
  /** Search references to other servers, which are not followed, except places that never hold users. */
  readonly references: number
}

/**
 * Reads every page of a search and passes each entry on at once. Resolves only at a confirmed end; anything else is
 * `source-incomplete`, or `source-refused` for a base that does not exist. A server that refuses pages of this length
 * is asked again for shorter ones.
 *
 * The loop is our own because ldapts ends with success at a page without entries even when a cookie asks to go on.
 */
export async function searchAll(
  connection: LdapConnection,
  search: Search,
  onEntry: (entry: LdapEntry) => void,
): Promise<SearchTotals> {
  const longest = search.pageSize ?? 0
  const handedOn = new Set<string>()
  for (let { pageSize } = search; ;) {
    const before = new Set(handedOn)
    const outcome = await searchPages(connection, { ...search, pageSize }, (entry) => {
      if (before.size > 0 && before.delete(entry.dn)) return
      if (handedOn.size < longest) handedOn.add(entry.dn)
      onEntry(entry)
    })
    if ('entries' in outcome) return outcome
    pageSize = outcome.mostPerPage
  }
}

/** The page is too long for the server; a shorter one to try. */
interface TooLong {
  readonly mostPerPage: number
}

async function searchPages(
  connection: LdapConnection,
  search: Search,
  onEntry: (entry: LdapEntry) => void,
): Promise<SearchTotals | TooLong> {
  const firsts = new Set<string>()
  let totals: SearchTotals = { entries: 0, pages: 0, references: 0 }
  let emptyInARow = 0
  let cookie: Buffer | undefined
  let first: SentEntry | undefined
  const backlog = createBacklog((sent) => {
    const entry = connection.wire.decode(sent, reading(search))
    if (sent === first && firsts.has(entry.dn))
      throw incomplete(connection, search, `page ${totals.pages} begins with an entry that was already read`)
    if (sent === first) firsts.add(entry.dn)
    onEntry(entry)
  })
  do {
    const asked = searchPage(connection, search, cookie, (sent) => {
      first ??= sent
      backlog.add(sent)
    })
    // If decoding fails, nothing awaits this page any more.
    asked.catch(() => undefined)
    // The server works on this page while the one before is decoded.
    backlog.handOn()
    first = undefined
    const page = await asked
    const mostPerPage = cookie === undefined ? shorterPage(page, search) : undefined
    if (mostPerPage !== undefined) return { mostPerPage }
    requireSuccess(connection, search, page.result)
    cookie = nextCookie(connection, search, cookie, page)
    emptyInARow = page.entries === 0 ? emptyInARow + 1 : 0
    totals = add(totals, page)
    if (emptyInARow > MOST_EMPTY_PAGES) {
      throw incomplete(connection, search, `the server sent ${emptyInARow} empty pages and never an end`)
    }
  } while (cookie !== undefined)
  backlog.handOn()
  return totals
}

/** Keeps entries until there is time for them, unless they take too much memory. */
function createBacklog(onEntry: (sent: SentEntry) => void) {
  let waiting: SentEntry[] = []
  let bytes = 0

  function handOn(): void {
    const sent = waiting
    waiting = []
    bytes = 0
    for (const each of sent) onEntry(each)
  }

  return {
    add(sent: SentEntry): void {
      waiting.push(sent)
      bytes += sent.bytes
      if (bytes > MOST_BACKLOG_BYTES) handOn()
    },
    handOn,
  }
}

/** Some servers cut off a first page that is too long; OpenLDAP refuses it without naming its limit. */
function shorterPage({ result, entries }: Page, { pageSize = 0 }: Search): number | undefined {
  const { code, diagnostic } = result
  if (code === SIZE_LIMIT_EXCEEDED && entries > 0 && entries < pageSize) return entries
  const isRefused = code === ADMIN_LIMIT_EXCEEDED && entries === 0 && /page size/i.test(diagnostic)
  return isRefused && pageSize > 1 ? Math.floor(pageSize / 2) : undefined
}

/** Only the first page: a sample, which proves nothing about other entries. */
export async function searchSome(connection: LdapConnection, search: Search): Promise<LdapEntry[]> {
  const entries: LdapEntry[] = []
  const take = decoded(connection, search, (entry) => entries.push(entry))
  const page = await searchPage(connection, search, undefined, take)
  requireSuccess(connection, search, page.result)
  return entries
}

/** Answers for an entry that does not exist, is hidden from this account, or is on another server. */
const NOT_HERE: ReadonlySet<number> = new Set([NO_SUCH_OBJECT, INVALID_DN, INSUFFICIENT_ACCESS, REFERRAL])

/** `undefined` where this server does not show the entry, or it is not within the filter. Throws like `searchAll`. */
export async function findEntry(
  connection: LdapConnection,
  dn: string,
  attributes: readonly string[],
  { filter, filterText }: Pick<Search, 'filter' | 'filterText'> = ANYTHING,
): Promise<LdapEntry | undefined> {
  const search = { base: dn, scope: 'base', filter, filterText, attributes, pageSize: undefined } as const
  let found: LdapEntry | undefined
  const take = decoded(connection, search, (entry) => {
    found = entry
  })
  const { result } = await searchPage(connection, search, undefined, take)
  if (NOT_HERE.has(result.code)) return undefined
  requireSuccess(connection, search, result)
  return found
}

export interface FirstPage {
  readonly entries: number
  readonly references: number
  readonly code: number
  readonly more: boolean
}

/** The first page, whatever its result: the server's limits show only by asking. */
export async function tryPage(
  connection: LdapConnection,
  search: Search,
  onEntry: (entry: LdapEntry) => void,
): Promise<FirstPage> {
  const take = decoded(connection, search, onEntry)
  const { entries, references, result } = await searchPage(connection, search, undefined, take)
  return { entries, references, code: result.code, more: (result.cookie?.length ?? 0) > 0 }
}

interface Page {
  readonly entries: number
  readonly references: number
  readonly result: LdapResult
}

async function searchPage(
  connection: LdapConnection,
  search: Search,
  cookie: Buffer | undefined,
  onEntry: (entry: SentEntry) => void,
): Promise<Page> {
  let entries = 0
  let references = 0
  const request = (messageId: number) => requestOf(messageId, search, cookie)
  const result = await connection.wire.exchange(request, reading(search), {
    onEntry: (entry) => {
      entries += 1
      onEntry(entry)
    },
    onReference: (urls) => {
      // A reference without URLs is against the standard, and may stand for anything.
      if (urls.length === 0 || !urls.every(isWithoutPeople)) references += 1
    },
  })
  return { entries, references, result }
}

function reading(search: Search): Doing {
  return { code: 'source-incomplete', what: `reading ${describe(search)}` }
}

function decoded(connection: LdapConnection, search: Search, onEntry: (entry: LdapEntry) => void) {
  return (sent: SentEntry) => onEntry(connection.wire.decode(sent, reading(search)))
}

/** Searches below a domain of Active Directory also refer to the forest's configuration and the DNS zones. */
function isWithoutPeople(url: string): boolean {
  return /^ldaps?:\/\/[^/]*\/(?:CN=Configuration|DC=DomainDnsZones|DC=ForestDnsZones),DC=/i.test(url)
}

/**
 * No size limit, because a server that reaches the client's limit calls that a success, and no time limit. The paging
 * control is not critical: a server that does not know it sends everything at once.
 */
function requestOf(messageId: number, search: Search, cookie: Buffer | undefined): SearchRequest {
  const { base, scope, filter, pageSize } = search
  return new SearchRequest({
    messageId,
    baseDN: base,
    scope,
    filter,
    attributes: search.attributes.length > 0 ? [...search.attributes] : ['1.1'],
    derefAliases: 'never',
    sizeLimit: 0,
    timeLimit: 0,
    controls:
      pageSize === undefined
        ? []
        : [new PagedResultsControl({ value: { size: pageSize, ...(cookie && { cookie }) } })],
  })
}

/** The next cookie, or `undefined` at the end, which must be beyond doubt. */
function nextCookie(
  connection: LdapConnection,
  search: Search,
  asked: Buffer | undefined,
  page: Page,
): Buffer | undefined {
  const { cookie } = page.result
  if (cookie !== undefined && cookie.length > 0) return cookie
  if (cookie !== undefined) return undefined
  if (asked !== undefined) throw incomplete(connection, search, 'the server stopped paging in the middle')
  if (page.entries === search.pageSize) {
    const doubt = `the server sent exactly one page of ${page.entries} entries and did not say whether there are more`
    throw incomplete(connection, search, doubt)
  }
  return undefined
}

function requireSuccess(connection: LdapConnection, search: Search, result: LdapResult): void {
  const words = resultInWords(result.code, result.diagnostic)
  if (result.operation !== 'search')
    throw incomplete(connection, search, 'the server gave an answer to something else')
  switch (result.code) {
    case SUCCESS:
      return
    case NO_SUCH_OBJECT:
    case INVALID_DN: {
      const remedy = 'correct the base, or let the bind user see it'
      const what = `${connection.endpoint.url} has no entry "${search.base}"`
      throw new DirsyncdError('source-refused', `${what}, the base of the search: ${words}; ${remedy}`)
    }
    case REFERRAL: {
      const named = result.referral.length > 0 ? ` (${result.referral.join(', ')})` : ''
      throw incomplete(connection, search, `${words}; give that server's URL${named}`)
    }
    default: {
      const remedy = remedyFor(result.code)
      const behind = remedy === undefined ? '' : `; ${remedy}`
      throw incomplete(connection, search, `the server ended with ${words}${behind}`)
    }
  }
}

function incomplete(connection: LdapConnection, search: Search, why: string): DirsyncdError {
  const { url } = connection.endpoint
  return new DirsyncdError('source-incomplete', `${url}: could not read all of ${describe(search)}: ${why}`)
}

function describe(search: Search): string {
  return `"${search.base}" (scope ${search.scope}) with the filter ${search.filterText}`
}

function add(totals: SearchTotals, page: Page): SearchTotals {
  return {
    entries: totals.entries + page.entries,
    pages: totals.pages + 1,
    references: totals.references + page.references,
  }
}
