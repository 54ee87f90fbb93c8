import { PAGE } from '../contract/endpoints.ts'
import { hasSameItems, type Key, type KeyedPage, type Listing, type Pages } from './listing.ts'
import type { Page } from './methods.ts'
import {
  backwardPass,
  forwardPass,
  MAX_PAGES,
  parallelPass,
  type Pass,
  refuseSamePage,
  trustedSize,
  unreadableList,
} from './passes.ts'

/** Reads one page, such as `(options) => client.listUsers({ directory_id: 7 }, options)`. */
export type ListPage<Item> = (options: {
  readonly page: number
  readonly perPage: number
  readonly signal?: AbortSignal | undefined
}) => Promise<Page<Item>>

export interface ReadAllOptions<Item, Kept = Item> {
  readonly key: (item: Item) => Key
  /** What to keep of an item, called as soon as its page is read. Default: the item itself. */
  readonly keep?: (item: Item) => Kept
  /**
   * Whether two items with one key are one entry that the list shows twice, which is an error, or two entries that
   * share a key that a service does not keep unique. Default: always one entry.
   */
  readonly isSame?: (one: Kept, other: Kept) => boolean
  /** Of page requests. */
  readonly concurrency: number
  readonly signal?: AbortSignal | undefined
}

export interface AllPages<Item> {
  /** Every item once, in the order of the list. */
  readonly items: readonly Item[]
  readonly keys: readonly Key[]
  /** Items whose key an earlier entry has, according to `isSame`. */
  readonly duplicates: readonly Item[]
  /** The list changed while it was read: an item that is missing here may exist. */
  readonly moved: boolean
  /** From the header of the last page; `undefined` without one. */
  readonly total: number | undefined
}

/**
 * Reads a whole list by page numbers; it ignores the `link` header.
 *
 * The first pass reads all pages in parallel (up to `concurrency`), with the page size that page 1 states. Then it
 * reads the first and the last page again, because one removal and one addition between two reads can hide an item and
 * leave every count the same. If anything disagrees (totals, sizes, an item on two pages), the list changed. Then a
 * second pass reads from the last page to the first: a removal moves items to lower pages, which are read next. So in a
 * list ordered by id, an item that existed all the time is never missed and never returned twice. Items that only the
 * first pass saw are kept; `moved` is true if the second pass disagreed too. An entry that comes twice counts once
 * against the total.
 *
 * Without usable `total` and `per-page` headers it reads page by page up to an empty one, and then backwards; `moved`
 * is true if the two passes disagree.
 *
 * Rejects with what `list` rejects with, or with an `ApiError` of kind `unexpected-answer` if the list does not end or
 * its pages contradict each other in a way that no change of the list explains.
 */
export async function readAllPages<Item, Kept = Item>(
  list: ListPage<Item>,
  options: ReadAllOptions<Item, Kept>,
): Promise<AllPages<Kept>> {
  const pages = pagesOf(list, options)
  const page1 = await pages.read(1)
  const size = trustedSize(page1)
  const parallel =
    size === undefined ? undefined : await parallelPass(pages, page1, size, options.concurrency)
  if (parallel?.steady) return resultOf(parallel, { duplicates: [], moved: false })
  return readUntilExplained(pages, page1, parallel ?? (await forwardPass(pages, page1)))
}

/** After so many passes, contradicting pages are an error; before, changes of the list may explain them. */
const MAX_PASSES = 4

async function readUntilExplained<Item>(
  pages: Pages<Item>,
  page1: KeyedPage<Item>,
  firstPass: Pass<Item>,
): Promise<AllPages<Item>> {
  let before = firstPass
  for (let passes = 2; ; passes += 1) {
    const pass = await backwardPass(pages, before)
    const { duplicates } = pass
    if (pass.steady) return resultOf(pass, { duplicates, moved: duplicates.length > 0 })
    const both = { ...pass, ...itemsOfBoth(before, pass) }
    const contradiction = contradictionIn(before, pass, both.items.length)
    if (contradiction === undefined) return resultOf(both, { duplicates: [], moved: true })
    if (passes === MAX_PASSES) throw unreadableList(page1, contradiction)
    before = both
  }
}

function resultOf<Item>(
  { items, keys, total }: Listing<Item>,
  found: Pick<AllPages<Item>, 'duplicates' | 'moved'>,
): AllPages<Item> {
  return { items, keys, total, ...found }
}

function itemsOfBoth<Item>(first: Pass<Item>, second: Pass<Item>): Pick<Listing<Item>, 'items' | 'keys'> {
  const known = new Set(second.keys)
  const isNew = (_: unknown, index: number) => !known.has(first.keys[index]!)
  return {
    items: [...second.items, ...first.items.filter(isNew)],
    keys: [...second.keys, ...first.keys.filter(isNew)],
  }
}

/**
 * `undefined` when changes of the list can explain the pages. Every entry from the start of the second pass is found,
 * so a total from then cannot be larger. And when both passes find the same items, the list did not change, so all
 * totals must equal their number.
 */
function contradictionIn<Item>(first: Pass<Item>, second: Pass<Item>, found: number): string | undefined {
  const stated = second.read.find(({ total }) => total !== undefined)?.total
  const isShort = stated !== undefined && found + second.duplicates.length < stated
  if (!isShort && !hasSameItems(first, second)) return undefined
  if (second.repeat !== undefined) return repeatIn(second.repeat, second)
  if (stated === undefined) return undefined
  const claims = new Map([...first.read, ...second.read].map(({ total, number }) => [total, number]))
  const said = [...claims]
    .slice(0, 3)
    .toSorted(([, a], [, b]) => a - b)
    .map(([total, number]) => `page ${number} says ${total ?? 'nothing'}`)
  return `its pages contradict each other about the number of entries: ${said.join(', ')}, and ${found} were found`
}

function repeatIn(
  { page, of, listed }: NonNullable<Pass<unknown>['repeat']>,
  { items, duplicates }: Pass<unknown>,
): string {
  const distinct = items.length + duplicates.length
  const what =
    page === of ? `page ${page} holds an entry twice` : `page ${page} repeats entries of page ${of}`
  return `${what}, and only ${distinct} of the ${listed} entries listed are distinct`
}

export interface EachItemOptions<Item> {
  readonly key: (item: Item) => Key
  /** Default 100. */
  readonly perPage?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Yields each key once, page by page. Keeps the keys, not the items. Does not notice when the list changes and an item
 * is missed; `readAllPages` does.
 */
export async function* eachItem<Item>(
  list: ListPage<Item>,
  options: EachItemOptions<Item>,
): AsyncGenerator<Item, void, void> {
  const pages = pagesOf(list, options)
  const seen = new Set<Key>()
  let page = await pages.read(1)
  for (let number = 1; page.items.length > 0; number += 1) {
    for (const [index, item] of page.items.entries()) {
      const key = page.keys[index]!
      if (!seen.has(key)) yield item
      seen.add(key)
    }
    if (isLast(page, number)) return
    if (number >= MAX_PAGES) throw unreadableList(page, `the list does not end after ${MAX_PAGES} pages`)
    const next = await pages.read(number + 1)
    // New items at the start can push a whole page to the next number; then `total` has grown.
    if (!hasGrown(page, next)) refuseSamePage(page, next)
    page = next
  }
}

/** With the parameter `all`, page 1 holds the whole list whatever its page size. */
function isLast({ items, total, perPage }: Page<unknown>, number: number): boolean {
  if (total === undefined) return false
  if (number === 1 && items.length >= total) return true
  return perPage !== undefined && number * perPage >= total
}

function hasGrown(before: Page<unknown>, after: Page<unknown>): boolean {
  return before.total !== undefined && after.total !== undefined && after.total > before.total
}

function pagesOf<Item, Kept = Item>(
  list: ListPage<Item>,
  {
    key,
    keep = (item) => item as unknown as Kept,
    isSame = () => true,
    signal,
    perPage = PAGE.max,
  }: EachItemOptions<Item> & Pick<ReadAllOptions<Item, Kept>, 'isSame' | 'keep'>,
): Pages<Kept> {
  return {
    isSame,
    async read(number) {
      const page = await list({ page: number, perPage, ...(signal === undefined ? {} : { signal }) })
      return { ...page, keys: page.items.map(key), items: page.items.map(keep) }
    },
  }
}
