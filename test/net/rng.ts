/** Random numbers that depend on a seed alone. */
export class Rng {
  #state: number

  constructor(seed: number) {
    this.#state = Math.imul(seed + 1, 2_654_435_761) >>> 0
  }

  /** From 0 to 1, without 1. */
  next(): number {
    this.#state = (this.#state + 0x6d_2b_79_f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** From 0 to `end`, without `end`. */
  int(end: number): number {
    return Math.floor(this.next() * end)
  }

  chance(share: number): boolean {
    return this.next() < share
  }

  pick<T>(list: readonly T[]): T {
    return list[this.int(list.length)]!
  }

  /** At most `count` of the list, without repetition. */
  some<T>(list: readonly T[], count: number): T[] {
    const left = [...list]
    const chosen: T[] = []
    while (chosen.length < count && left.length > 0) chosen.push(...left.splice(this.int(left.length), 1))
    return chosen
  }
}
