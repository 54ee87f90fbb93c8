import Fastify, { type FastifyInstance } from 'fastify'
import { z } from 'zod'
import { type Control, PART_NAMES } from '../../operations/control.ts'
import { PART } from '../../operations/parts.ts'
import type { ReloadReport, WrittenSync } from '../../operations/reload.ts'
import { DirsyncdError } from '../../base/errors.ts'
import type { Log } from '../../base/log/log.ts'
import { answerErrors, read } from './answer-errors.ts'
import { addWatching, type Watching } from './watching.ts'

export interface AdminOptions {
  readonly control: Omit<Control, typeof Symbol.asyncDispose>
  /** For a support bundle. */
  readonly diagnose?: (of: z.infer<typeof redaction>) => Promise<object>
  readonly watching: Watching
  readonly reload: () => Promise<ReloadReport>
  readonly configuration: () => { readonly syncs: readonly WrittenSync[] }
  readonly log: Log
}

const onlyEntries = z.strictObject({ users: z.array(z.string()), groups: z.array(z.string()) })
const runRequest = z.strictObject({
  sync: z.string(),
  mode: z.enum(['sync', 'plan']),
  only: onlyEntries.optional(),
})
const part = z.strictObject({
  names: z.array(z.enum(PART_NAMES)).optional(),
  kinds: z.array(z.enum(['user', 'group'])).optional(),
  ids: z.array(z.string()).optional(),
})
const undoRequest = z.strictObject({
  run: z.int().min(1),
  mode: z.enum(['sync', 'plan']),
  by: z.string().min(1),
  part,
})
const syncName = z.strictObject({ sync: z.string() })
const pauseRequest = z.strictObject({ by: z.string().min(1), reason: z.string().optional() })
const quarantineFilter = z.strictObject({ sync: z.string().optional() })
const resumeRequest = z.strictObject({ by: z.string().min(1) })
const releaseRequest = resumeRequest.extend({ sync: z.string().optional(), only: onlyEntries.optional() })
const explainRequest = z.strictObject({
  sync: z.string(),
  who: z.string(),
  kind: z.enum(['user', 'group']).optional(),
})
const runNumber = z.strictObject({ run: z.coerce.number().int().min(1) })
const decision = z.strictObject({
  by: z.string().min(1),
  reason: z.string().optional(),
  only: z.array(z.string()).min(1).optional(),
  seen: z.enum(['open', 'approved', 'rejected']).optional(),
})
const approval = decision.extend({ part: part.optional() })
const runFilter = z.strictObject({
  sync: z.string().optional(),
  limit: z.coerce.number().int().min(1).default(20),
})
// A daemon makes no answer of any length: that would take its memory, and its event loop.
const runDetail = z.strictObject({ limit: z.coerce.number().int().min(0).max(PART).default(PART) })
const place = z.strictObject({ after: z.coerce.number().int().optional() })

const redaction = z.strictObject({ salt: z.string().min(32), withTexts: z.boolean() })

/**
 * These operations name users and change data; only the file mode of the unix socket protects them. Never listens by
 * itself.
 */
export function buildAdminApp({
  control,
  diagnose,
  watching,
  reload,
  configuration,
  log,
}: AdminOptions): FastifyInstance {
  const app = Fastify({ forceCloseConnections: true })
  answerErrors(app, log)
  addWatching(app, watching)
  addOperations(app, control)
  if (diagnose !== undefined) app.post('/diagnostics', (request) => diagnose(read(redaction, request.body)))
  app.post('/reload', () => reload())
  app.get('/configuration', (): readonly WrittenSync[] =>
    configuration().syncs.map(({ name, written }) => ({ name, written })),
  )
  return app
}

function addOperations(app: FastifyInstance, control: AdminOptions['control']): void {
  app.get('/runs', async (request) => {
    const { sync, limit } = read(runFilter, request.query)
    return control.runs({ limit, ...(sync !== undefined && { sync }) })
  })
  app.get('/runs/:run', async (request) => {
    const { run } = read(runNumber, request.params)
    const view = await control.run(run, read(runDetail, request.query))
    if (view === undefined)
      throw new DirsyncdError('run-unknown', `There is no run ${run}; see \`dirsyncd runs\`.`)
    return view
  })
  for (const rows of ['changes', 'notices'] as const)
    app.get(`/runs/:run/${rows}`, async (request) => {
      const { after } = read(place, request.query)
      return control[rows](read(runNumber, request.params).run, after === undefined ? {} : { after })
    })
  app.post('/runs', async (request) => {
    const { only, ...rest } = read(runRequest, request.body)
    return { run: await control.requestRun({ ...rest, ...(only !== undefined && { only }) }) }
  })
  app.post('/runs/:run/approve', async (request) => {
    return control.approve({ ...read(runNumber, request.params), ...read(approval, request.body) })
  })
  app.post('/runs/:run/reject', async (request) => {
    return control.reject({ ...read(runNumber, request.params), ...read(decision, request.body) })
  })
  app.post('/undo', async (request) => ({ run: await control.undo(read(undoRequest, request.body)) }))
  app.get('/paused', () => control.paused())
  app.post('/syncs/:sync/pause', async (request) => {
    const { reason, by } = read(pauseRequest, request.body)
    const { sync } = read(syncName, request.params)
    return control.pause({ sync, by, ...(reason !== undefined && { reason }) })
  })
  app.post('/syncs/:sync/resume', async (request) => ({
    pause: await control.resume({ ...read(syncName, request.params), ...read(resumeRequest, request.body) }),
  }))
  app.get('/explain', async (request) => control.explain(read(explainRequest, request.query)))
  app.get('/quarantine', async (request) => {
    const { sync } = read(quarantineFilter, request.query)
    return control.quarantine(sync === undefined ? {} : { sync })
  })
  app.post('/quarantine/release', async (request) => {
    const { by, sync, only } = read(releaseRequest, request.body)
    return control.release({ by, ...(sync !== undefined && { sync }), ...(only !== undefined && { only }) })
  })
}
