/** Long work in parts; other work may run at each `yield`. Returns the result. */
export type Steps<T> = Generator<undefined, T, undefined>

/** Entries of one part, which takes a few milliseconds: a check may look at some hundred texts of each. */
export const PART = 64

export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** As `forEachInSteps`, for items of different `size`: groups with their members. */
export function* forEachOfSizeInSteps<T>(
  items: Iterable<T>,
  sizeOf: (item: T) => number,
  visit: (item: T) => Steps<void>,
): Steps<void> {
  let size = 0
  for (const item of items) {
    size += 1 + sizeOf(item)
    if (size >= PART) {
      size = 0
      yield
    }
    yield* visit(item)
  }
}

/** As `filter`, with a `yield` after each part. */
export function* filterInSteps<T>(items: readonly T[], test: (item: T) => boolean): Steps<T[]> {
  const passed: T[] = []
  yield* forEachInSteps(items, (item) => {
    if (test(item)) passed.push(item)
  })
  return passed
}

/** A copy, made with a `yield` after each part. */
export function* copyInSteps<Key, Value>(map: ReadonlyMap<Key, Value>): Steps<Map<Key, Value>> {
  const copy = new Map<Key, Value>()
  yield* forEachInSteps(map, ([key, value]) => copy.set(key, value))
  return copy
}

/** As `every`, with a `yield` after each part. */
export function* everyInSteps<T>(items: Iterable<T>, test: (item: T) => boolean): Steps<boolean> {
  let count = 0
  for (const item of items) {
    if (!test(item)) return false
    count += 1
    if (count % PART === 0) yield
  }
  return true
}

/** With a `yield` after each part: `yield* forEachInSteps(list, (item) => …)`. */
export function* forEachInSteps<T>(items: Iterable<T>, visit: (item: T) => void): Steps<void> {
  let count = 0
  for (const item of items) {
    visit(item)
    count += 1
    if (count % PART === 0) yield
  }
}
