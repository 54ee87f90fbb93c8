/**
 * The wanted differences between the decider under test and that of 3168b636, each as it shows in the lines of one run.
 * From such a run on the directories differ, so the rest of the world is not compared.
 */
interface Wanted {
  readonly why: string
  readonly isIn: (reference: readonly string[], present: readonly string[]) => boolean
}

const WANTED: readonly Wanted[] = [
  {
    why: 'an undo leaves a created group alone where a member of it has changed since',
    isIn: (reference, present) =>
      present.some((line) => {
        const group = /^notice changed-since group (.*)$/.exec(line)?.[1]
        if (group === undefined || reference.includes(line)) return false
        const isDeleted = (each: string) =>
          /^(question undo-deletes|send) /.test(each) && names(each, `delete-group ${group}`)
        return reference.some(isDeleted) && !present.some(isDeleted)
      }),
  },
]

function names(line: string, change: string): boolean {
  return `${line} `.includes(`${change} `) || line.includes(`${change},`)
}

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
    const [old, now] = [reference[run] ?? [], present[run] ?? []]
    if (WANTED.some(({ isIn }) => isIn(old, now))) return undefined
    const line = Array.from({ length: Math.max(old.length, now.length) }, (_, place) => place).find(
      (place) => old[place] !== now[place],
    )
    if (line === undefined) continue
    const shown = (lines: readonly string[]) => lines.slice(line, line + LINES_SHOWN)
    return { run: run + 1, reference: shown(old), present: shown(now) }
  }
  return undefined
}
