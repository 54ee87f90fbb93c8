/** Long work in parts: whoever does it may let others work at each `yield`. It returns the result. */
export type Steps<T> = Generator<undefined, T, undefined>

/** So many entries are one part, which takes a few milliseconds. */
export const PART = 2048

/** Does all the work, and lets nobody else work meanwhile. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Hands on the items of a list, with a `yield` after each part: `yield* forEachInSteps(list, (item) => …)`. */
export function* forEachInSteps<T>(items: Iterable<T>, visit: (item: T) => void): Steps<undefined> {
  let count = 0
  for (const item of items) {
    visit(item)
    count += 1
    if (count % PART === 0) yield
  }
  return undefined
}
