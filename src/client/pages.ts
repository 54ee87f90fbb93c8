import { PAGE } from '../contract/endpoints.ts'
import type { Page } from './methods.ts'
import {
  backwardPass,
  endlessListError,
  forwardPass,
  type Key,
  MAX_PAGES,
  type Pages,
  parallelPass,
  type Pass,
  refuseSamePage,
  trustedSize,
} from './passes.ts'

/** Reads one page by its number, such as `(options) => client.listUsers({ directory_id: 7 }, options)`. */
export type ListPage<Item> = (options: {
  readonly page: number
  readonly perPage: number
  readonly signal?: AbortSignal | undefined
}) => Promise<Page<Item>>

export interface ReadAllOptions<Item> {
  /** Identifies an item. */
  readonly key: (item: Item) => Key
  /** The most pages to read at the same time. */
  readonly concurrency: number
  readonly signal?: AbortSignal | undefined
}

export interface AllPages<Item> {
  /** Every item once, in the order of the list. */
  readonly items: readonly Item[]
  /** Items whose key occurs more than once although nothing else shows that the list changed. */
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
 * first pass saw are kept; `moved` is true if the second pass disagreed too.
 *
 * Without usable `total` and `per-page` headers it reads page by page up to an empty one, and then backwards; `moved`
 * is true if the two passes disagree.
 *
 * Rejects with what `list` rejects with, or with an `ApiError` of kind `unexpected-answer` if the list does not end.
 */
export async function readAllPages<Item>(
  list: ListPage<Item>,
  options: ReadAllOptions<Item>,
): Promise<AllPages<Item>> {
  const pages = pagesOf(list, options)
  const page1 = await pages.read(1)
  const size = trustedSize(page1)
  const parallel =
    size === undefined ? undefined : await parallelPass(pages, page1, size, options.concurrency)
  if (parallel?.steady) return { items: parallel.items, duplicates: [], moved: false, total: parallel.total }
  const first = parallel ?? (await forwardPass(pages, page1))
  return mergePasses(first, await backwardPass(pages, first), options.key)
}

function mergePasses<Item>(first: Pass<Item>, second: Pass<Item>, key: (item: Item) => Key): AllPages<Item> {
  const { total, duplicates } = second
  if (second.steady) return { items: second.items, duplicates, moved: duplicates.length > 0, total }
  const known = new Set(second.items.map(key))
  const items = [...second.items, ...first.items.filter((item) => !known.has(key(item)))]
  return { items, duplicates: [], moved: true, total }
}

export interface EachItemOptions<Item> {
  /** Identifies an item. */
  readonly key: (item: Item) => Key
  /** Items per page. Default 100. */
  readonly perPage?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Yields the items of a list, page by page, each key once. It keeps the keys, not the items. It does not notice when
 * the list changes and an item is missed; `readAllPages` does.
 */
export async function* eachItem<Item>(
  list: ListPage<Item>,
  options: EachItemOptions<Item>,
): AsyncGenerator<Item, void, undefined> {
  const pages = pagesOf(list, options)
  const seen = new Set<Key>()
  let page = await pages.read(1)
  for (let number = 1; page.items.length > 0; number += 1) {
    for (const item of page.items) {
      const key = options.key(item)
      if (!seen.has(key)) yield item
      seen.add(key)
    }
    if (isLast(page, number)) return
    if (number >= MAX_PAGES) throw endlessListError(page, `the list does not end after ${MAX_PAGES} pages`)
    const next = await pages.read(number + 1)
    // New items at the start can push a whole page to the next number; then `total` has grown.
    if (!hasGrown(page, next)) refuseSamePage(pages, page, next)
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

function pagesOf<Item>(
  list: ListPage<Item>,
  { key, signal, perPage = PAGE.max }: EachItemOptions<Item>,
): Pages<Item> {
  return { key, read: (page) => list({ page, perPage, ...(signal === undefined ? {} : { signal }) }) }
}
