import { createHmac } from 'node:crypto'
import type { Kind } from '../../core/entries/entry.ts'
import { plainForm, wordsIn } from './words.ts'

export interface Named {
  readonly kind: Kind
  readonly id: string
}

export interface CleanerParts {
  /** Secret, and never part of the bundle, so that ids cannot be found by trying. */
  readonly salt: string
  /** Words of the program, in the case that may stay. */
  readonly words: ReadonlySet<string>
  /** Texts of the configuration in the bundle; their words may stay. */
  readonly shown: readonly string[]
  /** Names, ids and e-mails of the store, by plain form. */
  readonly known: ReadonlyMap<string, Named | 'several'>
}

/** In words. */
export const LONGEST_NAME = 8

/** In characters. */
const LONGEST_SENTENCE = 400

/** Parameters of facts that are codes, times, places or sentences, and so may keep words of the program. */
const IN_WORDS: ReadonlySet<string> = new Set(
  (
    'code how why did op field fields form kind policy release block at since until after ' +
    'from list server last key keys known seen attribute attributes fault answer reason'
  ).split(' '),
)

/** The service's own ids of entries. */
const OWN_IDS: ReadonlySet<string> = new Set(['ownId', 'ownIds'])

type Piece = { readonly text: string; readonly isClean: boolean }

const EMAIL = /[^\s"'<>()[\],;:=/\\]+(?:@|%40|\\u0040)[^\s"'<>()[\],;:=/\\]+/giu
/** A path of the API ends with an id. */
const API_ID = /(?<=\/(?:users|groups)\/)[^\s/?]+/g
const QUOTED = /"[^"\n]*"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|(?<![\p{L}\p{N}])'[^'\n]+'(?![\p{L}\p{N}])/gu
/** A value in a DN; a comma within it has a backslash. */
const DN_VALUE = /(?<=(?<![\p{L}\p{N}])[A-Za-z][\w-]*=)(?:\\.|[^,+"\\\n;)])+/gu
const TIME = /\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?)?\b|\b\d\d:\d\d:\d\dZ/g
const ADDRESS = /\b\d{1,3}(?:\.\d{1,3}){3}\b/g
/** A telephone number, or another personal number written in groups. */
const LONG_NUMBER = /\+?\d(?:[ ./()-]{0,2}\d){6,}/g
const WORD_PLACES = /[\p{L}\p{M}\p{N}_]+/gu
/** Up to 999, perhaps with a unit: a count, a status or a part of a longer number such as 12,345. */
const SHORT_NUMBER = /^\d{1,3}(?:ms|s|m|h|d)?$/

/**
 * Pseudonymizes: an id becomes a salted hash, the same throughout a bundle, and a sentence keeps only words of the
 * program and of the shown configuration. Anything not known to be harmless is hidden.
 */
export class Cleaner {
  readonly #parts: CleanerParts
  readonly #configured: ReadonlySet<string>

  constructor(parts: CleanerParts) {
    this.#parts = parts
    const words = parts.shown.flatMap(wordsIn)
    this.#configured = new Set([...words, ...words.map((word) => word.toLowerCase())])
  }

  id({ kind, id }: Named): string {
    return `[${kind} ${this.#hash(id)}]`
  }

  hidden(text: string): string {
    const named = this.#parts.known.get(plainForm(text))
    if (named !== undefined && named !== 'several') return this.id(named)
    return `[hidden ${this.#hash(text)}]`
  }

  sentence(text: string): string {
    let pieces: readonly Piece[] = [{ text: text.normalize('NFC'), isClean: false }]
    const replace = (pattern: RegExp, by: (match: string) => string) => {
      pieces = pieces.flatMap((piece) => replaceIn(piece, pattern, by))
    }
    replace(EMAIL, (email) => this.hidden(email))
    replace(API_ID, (id) => this.hidden(id))
    replace(QUOTED, (quoted) => this.#unlessConfigured(quoted))
    replace(DN_VALUE, (value) => this.#unlessConfigured(value))
    replace(TIME, (time) => time)
    replace(ADDRESS, (address) => address)
    replace(LONG_NUMBER, (number) => this.#unlessConfigured(number))
    const cleaned = pieces.map((piece) => (piece.isClean ? piece.text : this.#cleanWords(piece.text)))
    return shortened(cleaned.join(''))
  }

  /** Parameters of a fact, by name; one that is not known here is hidden as a text in quotes is. */
  params(value: unknown, name = ''): unknown {
    if (typeof value === 'string')
      return IN_WORDS.has(name) ? this.sentence(value) : this.#unlessConfigured(value)
    if (typeof value === 'number') return OWN_IDS.has(name) ? this.hidden(`${value}`) : value
    if (Array.isArray(value)) return value.map((each) => this.params(each, name))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, this.params(each, key)]))
  }

  #unlessConfigured(text: string): string {
    const harmless = wordsIn(text).every(
      (word) => this.#configured.has(word) && !this.#parts.known.has(plainForm(word)),
    )
    return harmless && !this.#parts.known.has(plainForm(text)) ? text : this.hidden(text)
  }

  #cleanWords(text: string): string {
    const words = [...text.matchAll(WORD_PLACES)].map(({ 0: word, index }) => ({ word, start: index }))
    let cleaned = ''
    let end = 0
    for (let at = 0; at < words.length;) {
      const count = this.#hiddenWords(words, at, text)
      const { start } = words[at]!
      const last = words[at + Math.max(count, 1) - 1]!
      const stop = last.start + last.word.length
      const part = text.slice(start, stop)
      cleaned += text.slice(end, start) + (count === 0 ? part : this.hidden(part))
      end = stop
      at += Math.max(count, 1)
    }
    return cleaned + text.slice(end)
  }

  #hiddenWords(words: readonly { word: string; start: number }[], at: number, text: string): number {
    for (let count = Math.min(LONGEST_NAME, words.length - at); count > 0; count -= 1) {
      const some = words.slice(at, at + count).map(({ word }) => word)
      if (count === 1 && this.#isOfProgram(some[0]!)) break
      if (this.#parts.known.has(plainForm(some.join(' ')))) return count
    }
    let count = 0
    while (at + count < words.length && !this.#mayStay(words[at + count]!.word)) {
      const next = words[at + count + 1]
      const here = words[at + count]!
      count += 1
      if (
        next === undefined ||
        !/^[ .'’-]{1,2}$/u.test(text.slice(here.start + here.word.length, next.start))
      )
        break
    }
    return count
  }

  #mayStay(word: string): boolean {
    return this.#isOfProgram(word) || this.#configured.has(word)
  }

  #isOfProgram(word: string): boolean {
    return this.#parts.words.has(word) || SHORT_NUMBER.test(word)
  }

  #hash(text: string): string {
    return createHmac('sha256', this.#parts.salt)
      .update(plainForm(text) || text)
      .digest('hex')
      .slice(0, 12)
  }
}

/** All texts in the parameters of a fact. */
export function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

function replaceIn(piece: Piece, pattern: RegExp, by: (match: string) => string): readonly Piece[] {
  if (piece.isClean) return [piece]
  const { text } = piece
  const pieces: Piece[] = []
  let end = 0
  for (const { 0: match, index } of text.matchAll(pattern)) {
    pieces.push({ text: text.slice(end, index), isClean: false }, { text: by(match), isClean: true })
    end = index + match.length
  }
  return [...pieces, { text: text.slice(end), isClean: false }]
}

function shortened(text: string): string {
  return text.length <= LONGEST_SENTENCE ? text : `${text.slice(0, LONGEST_SENTENCE)}…`
}
