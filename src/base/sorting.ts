import { byCodeUnit } from './order.ts'
import { forEachInSteps, PART, type Steps } from './steps.ts'

/** Sorts 0 to `count` by merging, stable, in steps: sorting a million items at once takes a second. */
export function* sortInSteps(
  count: number,
  compare: (a: number, b: number) => number,
): Steps<Int32Array<ArrayBuffer>> {
  let sorted = new Int32Array(count)
  for (let start = 0; start < count; start += PART) {
    const length = Math.min(PART, count - start)
    sorted.set(Array.from({ length }, (_, index) => start + index).toSorted(compare), start)
    yield
  }
  let merged = new Int32Array(count)
  for (let width = PART; width < count; width *= 2) {
    for (let start = 0; start < count; start += 2 * width) {
      const middle = Math.min(start + width, count)
      const end = Math.min(middle + width, count)
      let left = start
      let right = middle
      for (let at = start; at < end; at += 1) {
        const isLeft = left < middle && (right >= end || compare(sorted[left]!, sorted[right]!) <= 0)
        merged[at] = sorted[isLeft ? left++ : right++]!
        if (at % PART === 0) yield
      }
    }
    ;[sorted, merged] = [merged, sorted]
  }
  return sorted
}

export function* sortedUniqueInSteps(ids: Iterable<string>): Steps<readonly string[]> {
  const unique = new Set<string>()
  let last: string | undefined
  let isSorted = true
  yield* forEachInSteps(ids, (id) => {
    if (last !== undefined && id < last) isSorted = false
    last = id
    unique.add(id)
  })
  const all = [...unique]
  if (isSorted || all.length <= PART) return isSorted ? all : all.toSorted(byCodeUnit)
  const order = yield* sortInSteps(all.length, (one, other) => byCodeUnit(all[one]!, all[other]!))
  return Array.from(order, (place) => all[place]!)
}

/** Merges two lists without duplicates, each sorted by code unit. */
export function* unionInSteps(some: readonly string[], others: readonly string[]): Steps<string[]> {
  const union: string[] = []
  let [one, other] = [0, 0]
  while (one < some.length || other < others.length) {
    const left = some[one]
    const right = others[other]
    const isLeft = right === undefined || (left !== undefined && left <= right)
    if (isLeft) one += 1
    if (!isLeft || left === right) other += 1
    union.push(isLeft ? left! : right)
    if (union.length % PART === 0) yield
  }
  return union
}

/** What the wanted list has besides the other, and lacks of it. Both are sorted by code unit, without duplicates. */
export function* differenceInSteps(
  have: readonly string[],
  want: readonly string[],
): Steps<{ readonly added: readonly string[]; readonly removed: readonly string[] }> {
  const [added, removed]: [string[], string[]] = [[], []]
  let at = 0
  yield* forEachInSteps(want, (id) => {
    while (at < have.length && have[at]! < id) removed.push(have[at++]!)
    if (have[at] === id) at += 1
    else added.push(id)
  })
  yield* forEachInSteps(have.slice(at), (id) => removed.push(id))
  return { added, removed }
}

/** By code unit. */
export function includesSorted(sorted: readonly string[], id: string): boolean {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (sorted[middle]! < id) low = middle + 1
    else high = middle
  }
  return sorted[low] === id
}
