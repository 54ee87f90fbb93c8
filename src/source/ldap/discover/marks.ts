import type { Log } from '../../../base/log/log.ts'
import type { LdapEntry } from '../entry.ts'
import { count, type LookingFor } from './count.ts'
import { Expired, EXPIRED_ATTRIBUTE } from './expired.ts'
import { CENTURIES, withoutDates } from './dated.ts'
import type { Mark } from './mark.ts'
import { PATTERN_ATTRIBUTES, Patterns } from './patterns.ts'
import { USER_ATTRIBUTES } from './propose.ts'
import type { ServerOptions } from './server.ts'

export interface Marks {
  readonly few: readonly Mark[]
  /** Attributes with more than `MOST_VALUES` that may tell users apart too. */
  readonly many: readonly string[]
}

/** For this sample all attributes are read, which may be large. */
const SAMPLE = 3000
const MOST_VALUES = 25
const MOST_MARKS = 6
/** In characters, as shown, with the end of a longer one. */
const LONGEST_TEXT = 60
const END = 20
/** Longer ones are compared by so many characters. */
const LONGEST_KEPT = 300

/** An attribute with more values differs for nearly every user. */
const MOST_COUNTED = 1000
/** An attribute whose values fewer users share on average differs for nearly every user, too. */
const FEWEST_SHARING = 3

/** Rejects like `Source.read`. */
export async function discoverMarks(
  options: ServerOptions,
  looking: LookingFor,
  log: Log,
  signal: AbortSignal,
): Promise<Marks> {
  const { filter } = looking
  const sample = new Values()
  const some = { options, looking, filter, attributes: ['*'], most: SAMPLE }
  await count(some, log, signal, (entry) => sample.add(entry))
  const seen = sample.marks()
  const candidates = seen.few.map(({ attribute }) => attribute)
  const attributes = [...candidates, ...PATTERN_ATTRIBUTES, EXPIRED_ATTRIBUTE]
  const [all, patterns, expired] = [new Values(candidates), new Patterns(), new Expired()]
  await count({ options, looking, filter, attributes }, log, signal, (entry) => {
    all.add(entry)
    patterns.add(entry)
    expired.add(entry)
  })
  const { few, many } = all.marks()
  const telling = few.toSorted((a, b) => Number(isTelling(b.attribute)) - Number(isTelling(a.attribute)))
  return {
    few: [...expired.marks(), ...patterns.marks(escaped), ...telling.slice(0, MOST_MARKS)],
    many: [...seen.many, ...many],
  }
}

function isTelling(attribute: string): boolean {
  return /type|stat|class|kind|categ|critical|active|locked|disabled/i.test(attribute)
}

/** Names, addresses and ids differ for every user, and objectClass has its own question. */
const OF_ONE_PERSON: ReadonlySet<string> = new Set(
  [...USER_ATTRIBUTES, 'objectClass'].map((name) => name.toLowerCase()),
)

interface Counts {
  /** By the value as servers compare it: without case, and without blanks at its ends. */
  readonly byText: Map<string, { readonly text: string; entries: number }>
  words: number
  others: number
}

class Values {
  readonly #byAttribute = new Map<string, Counts | undefined>()
  readonly #only: ReadonlySet<string> | undefined
  #entries = 0

  constructor(only?: readonly string[]) {
    this.#only = only && new Set(only)
  }

  add(entry: LdapEntry): void {
    this.#entries += 1
    for (const [name, texts] of entry.attributes) {
      if (this.#only?.has(name) === false) continue
      const counts = this.#byAttribute.has(name)
        ? this.#byAttribute.get(name)
        : { byText: new Map(), words: 0, others: 0 }
      if (counts === undefined) continue
      for (const text of oncePerEntry(texts)) {
        const key = comparable(text)
        const known = counts.byText.get(key)
        if (known === undefined)
          counts.byText.set(key, { text: text.trim().slice(0, LONGEST_KEPT), entries: 1 })
        else known.entries += 1
        if (isWord(text, isTelling(name))) counts.words += 1
        else counts.others += 1
      }
      const isMark = counts.byText.size <= MOST_COUNTED && entry.bytes?.has(name) !== true
      this.#byAttribute.set(name, isMark ? counts : undefined)
    }
  }

  /** Attributes with words, without those that are equal for all users. */
  marks(): Marks {
    const few: Mark[] = []
    const many: string[] = []
    for (const [attribute, counts] of this.#byAttribute) {
      if (counts === undefined || counts.words <= counts.others) continue
      const { byText, words, others } = counts
      if (OF_ONE_PERSON.has(attribute.toLowerCase())) continue
      const counted = withoutDates([...byText.values()])
      if (counted.length > MOST_VALUES) {
        const isShared = (words + others) / counted.length >= FEWEST_SHARING
        if (isShared || isTelling(attribute)) many.push(attribute)
        continue
      }
      const values = counted.map(({ text, entries, example }) => ({
        text:
          example === undefined
            ? shortened(text)
            : `${shortened(text)}… and a year, such as ${shortened(example)}`,
        entries,
        filter: example === undefined ? filterOf(attribute, text) : filterOfYears(attribute, text),
      }))
      if (values.some(({ entries }) => entries === this.#entries)) continue
      few.push({ attribute, values: values.toSorted((a, b) => b.entries - a.entries) })
    }
    return { few, many }
  }
}

function comparable(text: string): string {
  return text.slice(0, LONGEST_KEPT).trim().toLowerCase()
}

function oncePerEntry(texts: readonly string[]): Iterable<string> {
  return new Map(texts.map((text) => [comparable(text), text])).values()
}

/** The end is kept, because differences are often there. */
function shortened(text: string): string {
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT - END - 1)}…${text.slice(-END)}`
}

function filterOf(attribute: string, text: string): string {
  return `(${attribute}=${escaped(text)}${text.length === LONGEST_KEPT ? '*' : ''})`
}

function filterOfYears(attribute: string, beginning: string): string {
  return `(|${CENTURIES.map((century) => `(${attribute}=${escaped(beginning)}*${century}*)`).join('')})`
}

function escaped(text: string): string {
  return text.replaceAll(/[\\*()\0]/g, (sign) => `\\${Buffer.from(sign).toString('hex')}`)
}

/** No DN, no address, no time, and a number only where it may stand for a kind. */
function isWord(text: string, mayBeNumber: boolean): boolean {
  return (mayBeNumber || /\p{L}/u.test(text)) && !/[=@]|^\d{8}/.test(text)
}
