import { createHmac } from 'node:crypto'
import type { Until } from '../../core/block.ts'
import type { NoticeParams } from '../../core/notice.ts'
import type { RunRecord } from '../../store/runs.ts'

export interface Redaction {
  /** Secret, and never part of the bundle, so that ids cannot be found by trying. */
  readonly salt: string
  /** Shows the sentences of errors and answers, which may name users. */
  readonly withTexts: boolean
}

/** Columns and parameters whose texts are words of the program; also the names of syncs and targets. */
const WORDS = [
  'code',
  'did',
  'does',
  'error_code',
  'field',
  'fields',
  'form',
  'how',
  'kind',
  'kinds',
  'migration',
  'mode',
  'names',
  'op',
  'origin',
  'part',
  'policy',
  'process',
  'state',
  'stop_code',
  'sync',
  'system',
  'table',
  'target',
  'trigger',
  'verdict',
  'version',
  'why',
] as const

type Word = (typeof WORDS)[number]

/** The names in a stored value whose texts would be shown although any text may be there. */
type Open<T> = T extends readonly (infer Item)[]
  ? Open<Item>
  : T extends Date
    ? never
    : T extends object
      ? string extends keyof T
        ? OpenNames<T[keyof T]>
        : { [Name in keyof T]-?: Name extends Word ? OpenWord<Name, T[Name]> : Open<T[Name]> }[keyof T]
      : never

/** Parameters that have none are a record of `never`. */
type OpenNames<T> = [T] extends [never] ? never : string

type OpenWord<Name, T> = T extends readonly (infer Item)[]
  ? OpenWord<Name, Item>
  : T extends string
    ? string extends T
      ? Name
      : never
    : Open<T>

/** All that a bundle shows of JSON. Does not compile where a word of it is any text, or a name is. */
type Shown = Omit<RunRecord, 'sync' | 'target'> | NoticeParams[keyof NoticeParams]

const SHOWN: ReadonlySet<string> = new Set(WORDS satisfies readonly Exclude<Word, Open<Shown>>[])

const SENTENCES: ReadonlySet<string> = new Set(
  'answer detail error fault message reason stop_reason text'.split(' '),
)

const UNTIL: ReadonlySet<string> = new Set<Until>(['decision', 'time', 'read', 'configuration', 'service'])

const TIMES: ReadonlySet<string> = new Set(['after', 'at', 'since', 'until'])
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/

const IDS: ReadonlySet<string> = new Set(['ownId', 'ownIds'])

const MOST = 20

/** Keeps numbers, times and words of the program. Another text becomes a hash, the same throughout a bundle. */
export function redact(value: unknown, redaction: Redaction, name = ''): unknown {
  if (typeof value === 'string') return isShown(value, name, redaction) ? value : hashOf(value, redaction)
  if (typeof value === 'number') return IDS.has(name) ? hashOf(String(value), redaction) : value
  if (Array.isArray(value)) {
    const shown = value.slice(0, MOST).map((each) => redact(each, redaction, name))
    return value.length > MOST ? [...shown, `and ${value.length - MOST} more`] : shown
  }
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, redact(each, redaction, key)]))
}

export function hashOf(text: string, { salt }: Redaction): string {
  return `[hidden ${createHmac('sha256', salt).update(text).digest('hex').slice(0, 12)}]`
}

function isShown(text: string, name: string, { withTexts }: Redaction): boolean {
  if (name === 'until' && UNTIL.has(text)) return true
  return SHOWN.has(name) || (withTexts && SENTENCES.has(name)) || (TIMES.has(name) && TIME.test(text))
}
