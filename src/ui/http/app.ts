import Fastify, { type FastifyInstance } from 'fastify'
import { z } from 'zod'
import { type Control, OPERATIONS, type Operation, PARTS } from '../../operations/control.ts'
import { PART } from '../../operations/parts.ts'
import type { ReloadReport } from '../../operations/reload.ts'
import type { Log } from '../../base/log/log.ts'
import { answerErrors, read } from './answer-errors.ts'
import { addWatching, type Watching } from './watching.ts'

export interface AdminOptions {
  readonly control: Pick<Required<Control>, Operation>
  readonly diagnose?: (of: z.infer<typeof redaction>) => Promise<object>
  readonly watching: Watching
  readonly reload: () => Promise<ReloadReport>
  readonly log: Log
}

const text = z.string()
const by = z.string().min(1)
const sync = text.optional()
const kind = z.enum(['user', 'group'])
const mode = z.enum(['sync', 'plan'])
const run = z.int().min(1)
const scope = z.strictObject({ users: z.array(text), groups: z.array(text) }).optional()
const part = z.strictObject({
  names: z.array(z.enum(PARTS)).optional(),
  kinds: z.array(kind).optional(),
  ids: z.array(text).optional(),
})
const decision = z.strictObject({
  run,
  by,
  reason: text.optional(),
  ids: z.array(text).min(1).optional(),
  only: z.array(z.enum(PARTS)).min(1).optional(),
  code: text.optional(),
  isAll: z.boolean().optional(),
})
// A daemon makes no answer of any length: that would take its memory, and its event loop.
const detail = z.strictObject({ limit: z.int().min(0).max(PART) }).optional()
const place = z.strictObject({ after: z.int().optional() })

const INPUTS: Readonly<Record<Operation, readonly z.ZodType[]>> = {
  configuration: [],
  requestRun: [z.strictObject({ sync: text, mode, scope })],
  run: [run, detail],
  changes: [run, place],
  notices: [run, place],
  runs: [z.strictObject({ sync, limit: z.int().min(1) })],
  approve: [decision],
  reject: [decision],
  undo: [z.strictObject({ run, mode, by, part })],
  pause: [z.strictObject({ sync: text, by, reason: text.optional() })],
  resume: [z.strictObject({ sync: text, by })],
  paused: [],
  quarantine: [z.strictObject({ sync })],
  release: [z.strictObject({ by, sync, scope })],
  explain: [z.strictObject({ sync: text, who: text, kind: kind.optional() })],
}

const call = z.strictObject({ operation: z.enum(OPERATIONS), input: z.array(z.unknown()) })
const redaction = z.strictObject({ salt: z.string().min(32), withTexts: z.boolean() })

/**
 * These operations name users and change data; only the file mode of the unix socket protects them. Never listens by
 * itself.
 */
export function buildAdminApp({ control, diagnose, watching, reload, log }: AdminOptions): FastifyInstance {
  const app = Fastify({ forceCloseConnections: true })
  answerErrors(app, log)
  addWatching(app, watching)
  app.post('/call', async ({ body }) => {
    const { operation, input } = read(call, body)
    const given = INPUTS[operation].map((schema, at) => read(schema, input[at]))
    // Safe: the schemas of the operation have read what it takes.
    const operate = control[operation] as (...input: readonly unknown[]) => Promise<unknown>
    return { answer: await operate(...given) }
  })
  if (diagnose !== undefined) app.post('/diagnostics', ({ body }) => diagnose(read(redaction, body)))
  app.post('/reload', () => reload())
  return app
}
