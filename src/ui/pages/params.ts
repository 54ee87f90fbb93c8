import { z } from 'zod'
import { CHANGE_STATES, PARTS } from '../../operations/control.ts'
import { BLOCKS } from '../messages/blocks.ts'
import { NOTICES } from '../messages/notices.ts'
import type { BlockCode } from '../../core/block.ts'
import type { NoticeCode } from '../../core/notice.ts'
import { OPS } from '../../core/plan/change.ts'

const NOTHING = /^[\s\p{Cc}\p{Cf}]*$/u

function isNothing(value: unknown): boolean {
  return typeof value === 'string' && NOTHING.test(value)
}

/** A form field with nothing visible counts as empty. */
function optional<T extends z.ZodType>(schema: T) {
  return z.preprocess((value) => (isNothing(value) ? undefined : value), schema.optional())
}

function several<T extends z.ZodType>(schema: T) {
  return z.preprocess(
    (value) => (value === undefined || value === '' ? undefined : Array.isArray(value) ? value : [value]),
    z.array(schema).optional(),
  )
}

/** The store cannot have NUL in a text. */
const anyText = z.string().refine((value) => !value.includes('\0'), 'has a character that no text has')

/** PostgreSQL's `integer`. */
const MOST = 2_147_483_647

/** Stops at the first error: a whole number has limits of its own. */
function whole(least: number) {
  return z.coerce.number().min(least, { abort: true }).max(MOST, { abort: true }).int()
}

const place = whole(0)
const positive = whole(1)
const text = (longest: number) => anyText.trim().max(longest)
const kind = z.enum(['user', 'group'])

export const runParams = z.object({ run: positive })
export const changeParams = runParams.extend({ number: positive })
export const syncParams = z.object({ sync: anyText })

export const runsQuery = z.object({ sync: optional(anyText), before: optional(place) })
const BLOCK_CODES = Object.keys(BLOCKS) as [BlockCode, ...BlockCode[]]
export const changesQuery = z.object({
  op: optional(z.enum(OPS)),
  state: optional(z.enum(CHANGE_STATES)),
  code: optional(z.enum(BLOCK_CODES)),
  search: optional(text(200)),
  after: optional(place),
  before: optional(place),
})
const CODES = Object.keys(NOTICES) as [NoticeCode, ...NoticeCode[]]
export const noticesQuery = z.object({
  code: optional(z.enum(CODES)),
  after: optional(z.coerce.number().max(MOST, { abort: true }).int()),
})
export const peopleQuery = z.object({ who: anyText.min(1).max(2000), kind: optional(kind) })
export const quarantineQuery = z.object({ sync: optional(anyText), skip: optional(place) })
export const signInCodeParams = z.object({ code: anyText })
export const signInQuery = z.object({ to: z.string().default('/') })

/** Encoded, because browsers change line ends and other characters. */
const encoded = z
  .string()
  .transform((value, context) => {
    try {
      return decodeURIComponent(value)
    } catch {
      context.addIssue('is not encoded as it should be')
      return z.NEVER
    }
  })
  .pipe(anyText)

/** Not trimmed: blanks may belong to an id. */
const lines = anyText.transform((value) => value.split(/\r?\n/).filter((each) => each !== ''))

const name = text(100).refine((value) => !isNothing(value), 'must be a name')

// Strict: a misspelt field, such as a part of a plan, must not widen what is done.
export const signInForm = z.strictObject({ user: name, token: z.string(), to: optional(encoded) })
export const byForm = z.strictObject({ by: optional(text(100)) })
export const partForm = byForm.extend({
  names: several(z.enum(PARTS)),
  kinds: several(kind),
  ids: optional(lines),
})
export const decisionForm = byForm.extend({
  what: z.union([z.enum(['all', 'part']), z.templateLiteral(['code:', z.enum(BLOCK_CODES)])], {
    error: 'must be all, part, or code: with a reason',
  }),
  only: several(z.enum(PARTS)),
  ids: optional(lines),
  id: several(encoded.pipe(anyText.min(1))),
  reason: optional(text(500)),
  seen: optional(anyText),
})
export const runForm = z.strictObject({ mode: z.enum(['sync', 'plan']) })
export const pauseForm = byForm.extend({ reason: optional(text(500)) })
/** An empty or misspelled choice never stands for all. */
export const releaseForm = byForm
  .extend({
    all: z.literal('yes').optional(),
    sync: anyText.min(1).optional(),
    kind: kind.optional(),
    id: encoded.pipe(anyText.min(1)).optional(),
  })
  .refine(
    (form) =>
      (form.kind === undefined) === (form.id === undefined) &&
      (form.all === undefined) === (form.id !== undefined),
    'must have kind and id, or all=yes in their place',
  )
