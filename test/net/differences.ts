/**
 * The wanted differences between the decider under test and that of 3168b636. Each changes the lines of one run of the
 * reference to what is wanted now.
 */
interface Wanted {
  readonly why: string
  readonly apply: (lines: readonly string[]) => readonly string[]
}

const WANTED: readonly Wanted[] = []

export interface Difference {
  /** From 1. */
  readonly run: number
  readonly reference: readonly string[]
  readonly present: readonly string[]
}

const LINES_SHOWN = 3

/** The first run in which the lines differ, with the first lines that do. */
export function firstDifference(
  reference: readonly (readonly string[])[],
  present: readonly (readonly string[])[],
): Difference | undefined {
  for (let run = 0; run < Math.max(reference.length, present.length); run += 1) {
    const old = WANTED.reduce((lines, { apply }) => apply(lines), reference[run] ?? [])
    const now = present[run] ?? []
    const line = Array.from({ length: Math.max(old.length, now.length) }, (_, place) => place).find(
      (place) => old[place] !== now[place],
    )
    if (line === undefined) continue
    const shown = (lines: readonly string[]) => lines.slice(line, line + LINES_SHOWN)
    return { run: run + 1, reference: shown(old), present: shown(now) }
  }
  return undefined
}
