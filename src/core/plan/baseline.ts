import { addAll, listAt } from '../../base/lists.ts'
import { PART, type Steps, forEachInSteps } from '../../base/steps.ts'
import type { Places } from '../entries/snapshot.ts'
import { sortedUniqueInSteps } from '../../base/sorting.ts'

/** What fits into `CONTAINER_BITS`. */
const MOST_CONTAINERS = 2000
const CONTAINER_BITS = 11
const CONTAINER_MASK = (1n << 11n) - 1n
/** Where the halves of a number of 64 bits are in this machine's memory. */
const [LOW, HIGH] = new Uint32Array(BigUint64Array.of(1n).buffer)[0] === 1 ? [0, 1] : [1, 0]

/** The containers of the last good read, 8 bytes per entry. An empty one may have become unreadable. */
export interface Baseline {
  /** A container is named by so many parts of a DN, from its end. Deeper containers count as their parent. */
  readonly depth: number
  readonly containers: readonly string[]
  /** For each entry a hash of its id (53 bits) and the number of its container (11 bits), sorted. */
  readonly entries: BigUint64Array
}

/** Absent entries that were not deleted count in their old container, so that it does not look smaller than it was. */
export function* takeBaseline(
  eachPlace: Places['each'],
  kept?: {
    readonly absent: readonly string[]
    readonly before: Baseline | undefined
  },
): Steps<Baseline> {
  const numbers = new Map<string, number>()
  const rows = new Rows()
  const visit = (id: string, container: string): void => {
    let number = numbers.get(container)
    if (number === undefined) numbers.set(container, (number = numbers.size))
    rows.add(hashOf(id), number)
  }
  yield* eachPlace(visit)
  yield* forEachInSteps(kept?.absent ?? [], (id) => {
    const container = kept?.before && containerOf(kept.before, id)
    if (container !== undefined) visit(id, container)
  })
  const all = [...numbers.keys()]
  const depth = greatestDepth(all)
  const containers = [...new Set(all.map((container) => cut(container, depth)))].toSorted()
  const numberOf = new Map(containers.map((container, index) => [container, index]))
  const renumbered = all.map((container) => numberOf.get(cut(container, depth)) ?? 0)
  const entries = yield* rows.sorted(renumbered)
  return { depth, containers, entries }
}

class Rows {
  #count = 0
  /** Whole numbers of 32 bits, because a million BigInts would take a second. */
  #low = new Uint32Array(PART)
  #high = new Uint32Array(PART)
  #containers = new Uint32Array(PART)

  add(hash: number, container: number): void {
    if (this.#count === this.#low.length) {
      this.#low = doubled(this.#low)
      this.#high = doubled(this.#high)
      this.#containers = doubled(this.#containers)
    }
    this.#low[this.#count] = hash >>> 0
    this.#high[this.#count] = Math.floor(hash / 2 ** 32)
    this.#containers[this.#count] = container
    this.#count += 1
  }

  /** In buckets of the hash's highest bits, evenly filled: sorting a million entries at once would take too long. */
  *sorted(renumbered: readonly number[]): Steps<BigUint64Array> {
    const bucketOf = (index: number): number => this.#high[index]! >>> BUCKET_SHIFT
    const ends = new Uint32Array(BUCKETS + 1)
    for (let index = 0; index < this.#count; index += 1) ends[bucketOf(index) + 1]! += 1
    for (let bucket = 1; bucket <= BUCKETS; bucket += 1) ends[bucket]! += ends[bucket - 1]!
    const entries = new BigUint64Array(this.#count)
    const halves = new Uint32Array(entries.buffer)
    for (let index = 0; index < this.#count; index += 1) {
      if (index % PART === 0) yield
      const at = ends[bucketOf(index)]!++
      const low = this.#low[index]!
      halves[2 * at + LOW] = (low << CONTAINER_BITS) | (renumbered[this.#containers[index]!] ?? 0)
      halves[2 * at + HIGH] = (this.#high[index]! << CONTAINER_BITS) | (low >>> (32 - CONTAINER_BITS))
    }
    // Each end has moved to the beginning of the next bucket.
    for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
      entries.subarray(bucket === 0 ? 0 : ends[bucket - 1], ends[bucket]).sort()
      yield
    }
    return entries
  }
}

/** By the highest 8 of the 21 upper bits of a hash. */
const BUCKETS = 256
const BUCKET_SHIFT = 13

function doubled(array: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(2 * array.length)
  larger.set(array)
  return larger
}

/** `undefined` if the entry was not in the read. */
export function containerOf({ entries, containers }: Baseline, id: string): string | undefined {
  const wanted = BigInt(hashOf(id)) << BigInt(CONTAINER_BITS)
  let low = 0
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((entries[middle] ?? 0n) < wanted) low = middle + 1
    else high = middle
  }
  const found = entries[low]
  if (found === undefined || (found ^ wanted) > CONTAINER_MASK) return undefined
  return containers[Number(found & CONTAINER_MASK)]
}

/** Fewer absent entries do not indicate an unreadable container. */
const MIN_ABSENT = 5

/**
 * Finds the containers from which at least `MIN_ABSENT` entries are absent and which have no entries left, with the
 * absent ones: either directly in it, or in everything below it. Below counts only where more entries are absent than moved away, because a
 * reorganisation empties whole branches and some of their users leave.
 *
 * @param eachPlace the containers of this read's entries
 * @param absent ids of the directory that the read lacks
 */
export function* findEmptied(
  before: Baseline,
  eachPlace: Places['each'],
  absent: readonly string[],
): Steps<ReadonlyMap<string, readonly string[]>> {
  const absentIn = new Map<string, string[]>()
  yield* forEachInSteps(absent, (id) => {
    const container = containerOf(before, id)
    if (container !== undefined) listAt(absentIn, container).push(id)
  })
  const left = yield* containersOf(before, eachPlace)
  const suspicious = [...absentIn].filter(([container]) => !left.has(container))
  if (suspicious.length === 0) return new Map()
  const counts = yield* countAbsent(before, yield* takeBaseline(eachPlace))
  const branches: Branches = {
    left: new Set([...left].flatMap(branchesOf)),
    absent: countByBranch(counts),
    before: countByBranch(yield* countByContainer(before)),
  }
  const absentFrom = new Map(counts)
  const emptied = new Map<string, string[]>()
  for (const [container, ids] of suspicious) {
    const isEmptied = (absentFrom.get(container) ?? 0) >= MIN_ABSENT
    const name = topEmptied(container, branches) ?? (isEmptied ? container : undefined)
    if (name !== undefined) addAll(listAt(emptied, name), ids)
  }
  const found = new Map<string, readonly string[]>()
  for (const [container, ids] of emptied) found.set(container, yield* sortedUniqueInSteps(ids))
  return found
}

/** By the DN of a branch: a container and everything below it. */
interface Branches {
  readonly left: ReadonlySet<string>
  readonly absent: ReadonlyMap<string, number>
  readonly before: ReadonlyMap<string, number>
}

/** The highest branch around a container without entries, from which more entries are absent than moved. */
function topEmptied(container: string, { left, absent, before }: Branches): string | undefined {
  let top: string | undefined
  for (const branch of branchesOf(container)) {
    if (left.has(branch)) break
    const gone = absent.get(branch) ?? 0
    const had = before.get(branch) ?? 0
    // A parent that holds nothing else is less precise than the branch itself.
    const isWider = top === undefined || had > (before.get(top) ?? 0)
    if (gone >= MIN_ABSENT && gone * 2 > had && isWider) top = branch
  }
  return top
}

function* containersOf({ depth }: Baseline, eachPlace: Places['each']): Steps<ReadonlySet<string>> {
  const containers = new Set<string>()
  yield* eachPlace((_id, container) => containers.add(container))
  return new Set([...containers].map((container) => cut(container, depth)))
}

/** Absent entries per container. Both lists are sorted by the hash. */
function* countAbsent(before: Baseline, now: Baseline): Steps<[container: string, count: number][]> {
  let at = 0
  return yield* countByContainer(before, (entry) => {
    const hash = entry >> BigInt(CONTAINER_BITS)
    while (at < now.entries.length && (now.entries[at] ?? 0n) >> BigInt(CONTAINER_BITS) < hash) at += 1
    return (now.entries[at] ?? -1n) >> BigInt(CONTAINER_BITS) !== hash
  })
}

function* countByContainer(
  { containers, entries }: Baseline,
  isCounted: (entry: bigint) => boolean = () => true,
): Steps<[container: string, count: number][]> {
  const counts = new Uint32Array(containers.length)
  yield* forEachInSteps(entries, (entry) => {
    if (isCounted(entry)) counts[Number(entry & CONTAINER_MASK)]! += 1
  })
  return containers.map((container, number) => [container, counts[number] ?? 0])
}

function countByBranch(
  counts: readonly (readonly [container: string, count: number])[],
): Map<string, number> {
  const sums = new Map<string, number>()
  for (const [container, count] of counts)
    for (const branch of branchesOf(container)) sums.set(branch, (sums.get(branch) ?? 0) + count)
  return sums
}

function branchesOf(container: string): string[] {
  const parts = partsOf(container)
  return parts.map((_, index) => parts.slice(index).join(','))
}

function greatestDepth(containers: readonly string[]): number {
  let depth = Math.max(0, ...new Set(containers.map((container) => partsOf(container).length)))
  while (depth > 0 && new Set(containers.map((container) => cut(container, depth))).size > MOST_CONTAINERS) {
    depth -= 1
  }
  return depth
}

/** Normal DNs have commas between parts only. */
function partsOf(dn: string): string[] {
  return dn === '' ? [] : dn.split(',')
}

function cut(dn: string, depth: number): string {
  const parts = partsOf(dn)
  return parts.length <= depth ? dn : parts.slice(parts.length - depth).join(',')
}

/**
 * A hash of 53 bits (cyrb53, public domain, two UTF-16 units in each step). Colliding ids are no attack: a collision
 * lets one absent entry count in another's place. SHA-1 would cost several times as much for every entry of every read.
 */
function hashOf(id: string): number {
  let a = 0xdeadbeef ^ id.length
  let b = 0x41c6ce57
  for (let index = 0; index < id.length; index += 2) {
    // Past the end, `charCodeAt` returns NaN, which counts as 0.
    const units = id.charCodeAt(index) | (id.charCodeAt(index + 1) << 16)
    a = Math.imul(a ^ units, 2_654_435_761)
    b = Math.imul(b ^ units, 1_597_334_677)
  }
  a = Math.imul(a ^ (a >>> 16), 2_246_822_507) ^ Math.imul(b ^ (b >>> 13), 3_266_489_909)
  b = Math.imul(b ^ (b >>> 16), 2_246_822_507) ^ Math.imul(a ^ (a >>> 13), 3_266_489_909)
  return 2 ** 32 * (b & 0x1fffff) + (a >>> 0)
}
