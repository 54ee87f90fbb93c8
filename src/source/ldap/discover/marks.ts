import type { Log } from '../../../log.ts'
import type { LdapEntry } from '../entry.ts'
import { count, type LookingFor } from './count.ts'
import type { ServerOptions } from './server.ts'

/** An attribute with few values, by which a company may tell its people apart: who works there, and who has left. */
export interface Mark {
  readonly attribute: string
  /** The most frequent first. */
  readonly values: readonly { readonly text: string; readonly entries: number }[]
}

/** Of so many entries all attributes are looked at, which may be large. */
const SAMPLE = 3000
const MOST_VALUES = 25
const MOST_MARKS = 6
const LONGEST_TEXT = 40

/** Rejects like `Source.read`. */
export async function discoverMarks(
  options: ServerOptions,
  looking: LookingFor,
  log: Log,
  signal: AbortSignal,
): Promise<readonly Mark[]> {
  const { filter } = looking
  const sample = new Values()
  const some = { options, looking, filter, attributes: ['*'], most: SAMPLE }
  await count(some, log, signal, (entry) => sample.add(entry))
  const attributes = sample.marks().map(({ attribute }) => attribute)
  if (attributes.length === 0) return []
  const all = new Values()
  await count({ options, looking, filter, attributes }, log, signal, (entry) => all.add(entry))
  return all
    .marks()
    .toSorted((a, b) => Number(isTelling(b)) - Number(isTelling(a)))
    .slice(0, MOST_MARKS)
}

/** Attributes whose name says that they tell kinds apart. */
function isTelling({ attribute }: Mark): boolean {
  return /type|stat|class|kind|categ|critical|active|locked|disabled/i.test(attribute)
}

/** Counts the values of each attribute, as long as they are few. */
class Values {
  readonly #byAttribute = new Map<string, Map<string, number> | undefined>()
  #entries = 0

  add(entry: LdapEntry): void {
    this.#entries += 1
    for (const [name, texts] of entry.attributes) {
      const counts = this.#byAttribute.has(name) ? this.#byAttribute.get(name) : new Map<string, number>()
      if (counts === undefined) continue
      for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
      const isMark = counts.size <= MOST_VALUES && texts.every(isWord) && entry.bytes?.has(name) !== true
      this.#byAttribute.set(name, isMark ? counts : undefined)
    }
  }

  /** Without those that say the same of everybody. */
  marks(): readonly Mark[] {
    return [...this.#byAttribute].flatMap(([attribute, counts]) => {
      if (counts === undefined || attribute.toLowerCase() === 'objectclass') return []
      const values = [...counts].map(([text, entries]) => ({ text, entries }))
      if (values.some(({ entries }) => entries === this.#entries)) return []
      return [{ attribute, values: values.toSorted((a, b) => b.entries - a.entries) }]
    })
  }
}

/** No number, no DN, no time and nothing long: those are rarely what a person calls a kind. */
function isWord(text: string): boolean {
  return text.length <= LONGEST_TEXT && /\p{L}/u.test(text) && !/=|^\d{8}/.test(text)
}
