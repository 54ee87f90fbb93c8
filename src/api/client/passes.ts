import { ApiError } from './api-error.ts'
import { hasSameItems, type KeyedPage, type Listing, listingOf, type Pages } from './listing.ts'
import type { Page } from './methods.ts'

/** Stops endless loops: 100,000 pages of 100 are ten million entries. */
export const MAX_PAGES = 100_000

/** Entries of a list without a credible total: an endless list must not fill the memory. */
const MAX_UNCOUNTED = 2_000_000

export interface Pass<Item> extends Listing<Item> {
  /** Nothing shows that the list changed during this pass. */
  readonly steady: boolean
  readonly read: readonly PageFacts[]
}

export interface PageFacts {
  readonly number: number
  /** From its header; `undefined` without one. */
  readonly total: number | undefined
}

export interface ListSize {
  readonly total: number
  readonly perPage: number
}

/** From page 1; `undefined` if headers are missing or disagree with the number of items. */
export function trustedSize(page1: Page<unknown>): ListSize | undefined {
  const { total, perPage, items } = page1
  if (total === undefined || perPage === undefined) return undefined
  if (Math.ceil(total / perPage) > MAX_PAGES) return undefined
  return items.length === Math.min(total, perPage) ? { total, perPage } : undefined
}

/**
 * Reads page 1, the last page, the pages between them, and then the first and the last page again. In a list ordered by
 * id, new items come at the end, so the last page keeps its first item only if no item before it was removed. Page 1 is
 * read again to cover the time before the last page was first read. `undefined` when the last page is empty, because
 * then `total` was wrong.
 */
export async function parallelPass<Item>(
  pages: Pages<Item>,
  page1: KeyedPage<Item>,
  size: ListSize,
  concurrency: number,
): Promise<Pass<Item> | undefined> {
  const lastPage = Math.max(1, Math.ceil(size.total / size.perPage))
  const read: KeyedPage<Item>[] = [page1]
  if (lastPage > 1) {
    read[lastPage - 1] = await pages.read(lastPage)
    if (read[lastPage - 1]?.items.length === 0) return undefined
  }
  await forEachConcurrently(between(1, lastPage), concurrency, async (number) => {
    read[number - 1] = await pages.read(number)
  })
  for (const page of read.slice(1)) refuseSamePage(page1, page)
  const pass = listingOf(pages, read)
  const isEachOnce = pass.duplicates.length === 0 && pass.repeat === undefined
  const steady = agreesWithSize(read, size) && isEachOnce && (await endsAreUnchanged(pages, read))
  return { ...pass, lastPage: furthestLastPage(read), steady, read: factsOf(read) }
}

async function endsAreUnchanged<Item>(
  pages: Pages<Item>,
  read: readonly KeyedPage<Item>[],
): Promise<boolean> {
  if (read.length === 1) return true
  const [head, tail] = await Promise.all([pages.read(1), pages.read(read.length)])
  return head?.keys.at(-1) === read[0]?.keys.at(-1) && tail?.keys[0] === read.at(-1)?.keys[0]
}

/** Reads page by page up to an empty one. Never steady, because without totals a missed item goes unnoticed. */
export async function forwardPass<Item>(pages: Pages<Item>, page1: KeyedPage<Item>): Promise<Pass<Item>> {
  const read: KeyedPage<Item>[] = []
  let page = page1
  let entries = 0
  while (page.items.length > 0) {
    read.push(page)
    entries += page.items.length
    if (entries > MAX_UNCOUNTED) {
      throw unreadableList(
        page,
        'the list has no total that can be believed and does not end after 2,000,000 entries',
      )
    }
    if (read.length >= MAX_PAGES) throw unreadableList(page, `the list does not end after ${MAX_PAGES} pages`)
    const next = await pages.read(read.length + 1)
    refuseSamePage(page, next)
    page = next
  }
  return { ...listingOf(pages, read), steady: false, read: factsOf([...read, page]) }
}

/**
 * Reads from the last page to the first. Steady when all totals agree with the items, or, without totals, when the
 * items are the same as in the first pass. Duplicates alone do not make it unsteady, repeated entries do.
 */
export async function backwardPass<Item>(pages: Pages<Item>, first: Pass<Item>): Promise<Pass<Item>> {
  const read: KeyedPage<Item>[] = []
  const { page, lastPage } = await readLastPage(pages, first.lastPage)
  read[lastPage - 1] = page
  for (let number = lastPage - 1; number >= 1; number -= 1) read[number - 1] = await pages.read(number)
  const facts = factsOf(read).toReversed()
  // Pages that the list had before it became shorter are empty now.
  while (read.length > 1 && read.at(-1)?.items.length === 0) read.pop()
  const pass = listingOf(pages, read)
  const head = read[0]
  const size = head === undefined ? undefined : trustedSize(head)
  const agrees = size === undefined ? isSameList(first, pass) : agreesWithSize(read, size)
  return { ...pass, steady: agrees && pass.repeat === undefined, read: facts }
}

/** By its own total: the list may have grown since the first pass, by at most 100 pages. */
async function readLastPage<Item>(
  pages: Pages<Item>,
  from: number,
): Promise<{ readonly page: KeyedPage<Item>; readonly lastPage: number }> {
  let lastPage = from
  for (;;) {
    const page = await pages.read(lastPage)
    const { total = 0, perPage = 0, items } = page
    const claimed = perPage === 0 || items.length > perPage ? 0 : Math.ceil(total / perPage)
    if (claimed <= lastPage || claimed > from + MAX_GROWTH) return { page, lastPage }
    lastPage = claimed
  }
}

/** Every page has this total and page size in its headers, and the resulting number of items. */
function agreesWithSize(read: readonly Page<unknown>[], { total, perPage }: ListSize): boolean {
  if (read.length !== Math.max(1, Math.ceil(total / perPage))) return false
  return read.every(
    (page, index) =>
      page.total === total &&
      page.perPage === perPage &&
      page.items.length === Math.min(perPage, total - index * perPage),
  )
}

function isSameList<Item>(first: Listing<Item>, second: Listing<Item>): boolean {
  const { total, items, duplicates } = second
  return (total === undefined || total === items.length + duplicates.length) && hasSameItems(first, second)
}

function factsOf(read: readonly Page<unknown>[]): PageFacts[] {
  return read.map(({ total }, index) => ({ number: index + 1, total }))
}

const MAX_GROWTH = 100

/** From any total, because the list may have grown. */
function furthestLastPage(read: readonly Page<unknown>[]): number {
  let reach = read.length
  for (const { total, perPage } of read) {
    if (total !== undefined && perPage !== undefined) reach = Math.max(reach, Math.ceil(total / perPage))
  }
  return Math.min(reach, read.length + MAX_GROWTH)
}

/** Throws if two pages are the same: a service that ignores `page` would make the read endless. */
export function refuseSamePage(one: KeyedPage<unknown>, other: KeyedPage<unknown>): void {
  if (other.keys.length === 0 || one.keys.length !== other.keys.length) return
  if (one.keys.every((key, index) => key === other.keys[index])) {
    throw unreadableList(
      other,
      'two pages hold the very same entries; the service seems to ignore the page number',
    )
  }
}

export function unreadableList(page: Page<unknown>, reason: string): ApiError {
  return new ApiError(page.destination, { kind: 'unexpected-answer', reason })
}

function* between(first: number, last: number): Generator<number> {
  for (let number = first + 1; number < last; number += 1) yield number
}

/** The workers share one generator: the first failure closes it, and no worker takes another number. */
async function forEachConcurrently(
  numbers: Generator<number>,
  concurrency: number,
  work: (number: number) => Promise<void>,
): Promise<void> {
  async function worker(): Promise<void> {
    for (const number of numbers) await work(number)
  }
  await Promise.all(Array.from({ length: Math.max(1, concurrency) }, worker))
}
