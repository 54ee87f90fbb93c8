import type { Page } from './methods.ts'

export type Key = string | number

/** A list that is read by page numbers from 1. */
export interface Pages<Item> {
  /** Whether two items with one key are one entry that the list shows twice. */
  readonly isSame: (one: Item, other: Item) => boolean
  read(number: number): Promise<KeyedPage<Item>>
}

export interface KeyedPage<Item> extends Page<Item> {
  readonly keys: readonly Key[]
}

export interface Listing<Item> {
  /** Every item once, in the order of the list. */
  readonly items: readonly Item[]
  readonly keys: readonly Key[]
  /** Other entries whose key occurred before. */
  readonly duplicates: readonly Item[]
  /** The first entry that the list shows twice. */
  readonly repeat: Repeat | undefined
  readonly lastPage: number
  /** From the header of the last page; `undefined` without one. */
  readonly total: number | undefined
}

interface Repeat {
  readonly page: number
  /** The earlier page that has the entry too. */
  readonly of: number
  /** The number of items on all pages, repeated ones included. */
  readonly listed: number
}

export function listingOf<Item>({ isSame }: Pages<Item>, read: readonly KeyedPage<Item>[]): Listing<Item> {
  const lastPage = Math.max(1, read.length)
  const total = read.at(-1)?.total
  if (isAscending(read)) {
    const items = joined(read.map((page) => page.items))
    const keys = joined(read.map((page) => page.keys))
    return { items, keys, duplicates: [], repeat: undefined, lastPage, total }
  }
  const items = new Map<Key, Item>()
  const duplicates: Item[] = []
  let repeated: { readonly key: Key; readonly page: number } | undefined
  for (const [index, page] of read.entries()) {
    for (const [place, item] of page.items.entries()) {
      const key = page.keys[place]!
      if (!items.has(key)) items.set(key, item)
      else if (!isSame(items.get(key)!, item)) duplicates.push(item)
      else repeated ??= { key, page: index + 1 }
    }
  }
  const repeat = repeated && { page: repeated.page, ...firstPlaceOf(read, repeated.key) }
  return { items: [...items.values()], keys: [...items.keys()], duplicates, repeat, lastPage, total }
}

/** Like `flat`, which for a moment takes several times the memory of its result. */
function joined<Value>(lists: readonly (readonly Value[])[]): Value[] {
  const length = lists.reduce((sum, list) => sum + list.length, 0)
  // oxlint-disable-next-line unicorn/no-new-array -- `Array.from` takes 30 ms for a million values, in one turn.
  const all = new Array<Value>(length)
  let next = 0
  for (const list of lists) {
    for (const value of list) {
      all[next] = value
      next += 1
    }
  }
  return all
}

/** Ascending keys, as in most lists, cannot repeat. */
function isAscending(read: readonly KeyedPage<unknown>[]): boolean {
  let last = -Infinity
  for (const { keys } of read) {
    for (const key of keys) {
      if (typeof key !== 'number' || key <= last) return false
      last = key
    }
  }
  return true
}

function firstPlaceOf(read: readonly KeyedPage<unknown>[], key: Key): Omit<Repeat, 'page'> {
  const of = 1 + read.findIndex(({ keys }) => keys.includes(key))
  return { of, listed: read.reduce((sum, { keys }) => sum + keys.length, 0) }
}

export function hasSameItems<Item>(first: Listing<Item>, second: Listing<Item>): boolean {
  if (first.keys.length !== second.keys.length) return false
  const known = new Set(first.keys)
  return second.keys.every((key) => known.has(key))
}
