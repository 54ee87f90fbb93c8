import { PART, type Steps } from './steps.ts'

/**
 * The numbers from 0 to `count` in order, sorted in steps by merging: a sort of a million items at once takes a second.
 * Equal ones keep their order.
 *
 * @param compare two of the numbers: negative, zero or positive
 */
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
