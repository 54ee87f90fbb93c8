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
  /** What tells two items apart. */
  readonly key: (item: Item) => Key
  /** Pages that are under way at the same time. */
  readonly concurrency: number
  readonly signal?: AbortSignal | undefined
}

export interface AllPages<Item> {
  /** Every item once, in the order of the list. */
  readonly items: readonly Item[]
  /** Items whose key came twice in a list that was otherwise at rest: they really are there twice. */
  readonly duplicates: readonly Item[]
  /** The list changed while it was read: an item that is missing here may be there. */
  readonly moved: boolean
  /** What the service last said, where it says it at all. */
  readonly total: number | undefined
}

/**
 * Reads a list to its end, by page numbers, and never by the `link` header.
 *
 * The pages are of the size that the answer states. All of them are read at once (within `concurrency`); then the
 * first and the last are read again, because a removal and an addition between two pages can hide an item and yet
 * leave every count as it was. If anything disagrees (totals, sizes, an item on two pages), the list moved and is read
 * once more, from its last page to its first: a removal moves items towards the pages that are still to come. So in a
 * list ordered by id an item that was there throughout is never missed and never listed twice. What only the first
 * reading saw is kept; `moved` says whether the second one disagreed as well.
 *
 * Without sensible `total` and `per-page` headers the pages are read one by one up to an empty one, and then
 * backwards; `moved` is whether the two disagree.
 *
 * Rejects with what `list` rejects with, and with an `ApiError` of kind `unexpected-answer` where the pages do not
 * end.
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
  /** What tells two items apart. */
  readonly key: (item: Item) => Key
  /** Items that a page is asked to hold. Default 100. */
  readonly perPage?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * The items of a list one after the other, a page at a time, without keeping them. Each key comes once. This is for
 * looking through a list: it cannot tell whether something moved past it; `readAllPages` can.
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
    // New items in front of a list push a whole page to the next number: its total tells.
    if (!hasGrown(page, next)) refuseSamePage(pages, page, next)
    page = next
  }
}

/** Page 1 may also hold everything although its size says otherwise: that is what `all` asks for. */
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
