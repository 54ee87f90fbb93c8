import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { Browse } from '../../operations/browse.ts'
import { type Control, type DecisionRequest, earlierPauseText, PARTS } from '../../operations/control.ts'
import { decisionText } from '../../operations/decision-text.ts'
import { notReleasedText } from '../../operations/released.ts'
import { DirsyncdError } from '../../base/errors.ts'
import type { BlockCode } from '../../core/block.ts'
import type { Part } from '../../core/plan/part/part.ts'
import { cut } from '../../base/wording.ts'
import { printable } from '../../base/printable.ts'
import { read } from '../http/answer-errors.ts'
import { decidedSo } from './decide.ts'
import { path, withQuery } from './html.ts'
import * as params from './params.ts'
import { runOf } from './run-of.ts'

type Operations = Omit<Control, typeof Symbol.asyncDispose>

export function addActions(app: FastifyInstance, control: Operations, browse: Pick<Browse, 'run'>): void {
  addDecisions(app, control, browse)
  addUndo(app, control)
  app.post('/syncs/:sync/run', async (request, reply) => {
    const { sync } = read(params.syncParams, request.params)
    const { mode } = formOf(params.runForm, request)
    return toRun(reply, await control.requestRun({ sync, mode }))
  })
  app.post('/syncs/:sync/pause', async (request, reply) => {
    const { sync } = read(params.syncParams, request.params)
    const { by, reason } = formOf(params.pauseForm, request)
    const asked = { sync, by: whoActs(request, by), ...(reason !== undefined && { reason }) }
    const earlier = earlierPauseText((await control.pause(asked)).pause, asked)
    if (earlier !== undefined) throw new DirsyncdError('sync-paused', `${earlier}.`)
    return reply.redirect(path`/syncs/${sync}`, 303)
  })
  app.post('/syncs/:sync/resume', async (request, reply) => {
    const { sync } = read(params.syncParams, request.params)
    const by = whoActs(request, formOf(params.byForm, request).by)
    if ((await control.resume({ sync, by })) === null)
      throw new DirsyncdError('usage', `The sync ${sync} is not paused.`)
    return reply.redirect(path`/syncs/${sync}`, 303)
  })
  app.post('/quarantine/release', async (request, reply) => {
    const { by, sync, kind, id } = formOf(params.releaseForm, request)
    const scope =
      id === undefined
        ? undefined
        : { users: kind === 'user' ? [id] : [], groups: kind === 'group' ? [id] : [] }
    const asked = { ...(sync !== undefined && { sync }), ...(scope !== undefined && { scope }) }
    const released = await control.release({ ...asked, by: whoActs(request, by) })
    const missing = notReleasedText(asked, released)
    if (missing !== undefined) throw new DirsyncdError('id-unknown', missing)
    return reply.redirect(withQuery('/quarantine', { sync }), 303)
  })
}

function addDecisions(app: FastifyInstance, control: Operations, browse: Pick<Browse, 'run'>): void {
  for (const does of ['approve', 'reject'] as const)
    app.post(`/runs/:run/${does}`, async (request, reply) => {
      const { run } = read(params.runParams, request.params)
      const { by, what, reason, seen, ...part } = formOf(params.decisionForm, request)
      const asked = { run, by: whoActs(request, by), reason, ...selectionOf(what, part) }
      if (seen !== undefined) await requireSeen(browse, run, seen)
      const { decision } = await control[does](asked)
      return toRun(reply, decision.started ?? run)
    })
}

/** Otherwise, a form of an old page would overrule a decision that its operator does not know. */
async function requireSeen(browse: Pick<Browse, 'run'>, number: number, seen: string): Promise<void> {
  const run = await runOf(browse, number)
  if (decidedSo(run) === seen) return
  const last = seen.endsWith(` ${run.decisions.length}`) ? undefined : run.decisions.at(-1)
  const what =
    last === undefined
      ? `The open questions of run ${number} changed`
      : `Run ${number} was ${cut(decisionText(last))}`
  throw new DirsyncdError('usage', `${what} since this page was loaded, so nothing was decided now.`)
}

function addUndo(app: FastifyInstance, control: Operations): void {
  app.post('/runs/:run/undo', async (request, reply) => {
    const { run } = read(params.runParams, request.params)
    const { by, ...chosenPart } = formOf(params.partForm, request)
    const asked = { run, part: namedPart(chosenPart), by: whoActs(request, by) }
    return toRun(reply, await control.undo({ ...asked, mode: 'plan' }))
  })
  app.post('/runs/:run/put-back', async (request, reply) => {
    const { run } = read(params.runParams, request.params)
    const { by } = formOf(params.byForm, request)
    const plan = await control.run(run, { limit: 0 })
    if (plan?.undo == null) throw new DirsyncdError('run-unknown', `Run ${run} is no plan of an undo.`)
    const { run: undone, part } = plan.undo
    const asked = { run: undone, part, by: whoActs(request, by) }
    return toRun(reply, await control.undo({ ...asked, mode: 'sync' }))
  })
}

/** A form without fields has no body. */
function formOf<T extends z.ZodType>(schema: T, { body }: FastifyRequest): z.output<T> {
  return read(schema, body ?? {})
}

function toRun(reply: FastifyReply, run: number): FastifyReply {
  return reply.redirect(path`/runs/${run}`, 303)
}

type Chosen = Pick<z.output<typeof params.decisionForm>, 'only' | 'ids' | 'id'>

/** A form that names a part never means all, even where nothing is selected. */
function selectionOf(
  what: z.output<typeof params.decisionForm>['what'],
  { only, ids = [], id = [] }: Chosen,
): Pick<DecisionRequest, 'ids' | 'only' | 'code' | 'isAll'> {
  const all = [...new Set([...ids, ...id])]
  const isPart = only !== undefined || all.length > 0
  if (what === 'part') {
    if (!isPart) throw new DirsyncdError('usage', `Say which part: ${PARTS.join(', ')}, or ids.`)
    return { ...(only !== undefined && { only }), ...(all.length > 0 && { ids: all }) }
  }
  if (isPart)
    throw new DirsyncdError(
      'usage',
      'A part is selected, and the button decides more: use a button of the part, or clear the selection. Nothing was decided.',
    )
  return what === 'all' ? { isAll: true } : { code: what.slice('code:'.length) as BlockCode }
}

/** Without empty choices, which stand for all. */
function namedPart({ names, kinds, ids }: Omit<z.output<typeof params.partForm>, 'by'>): Part {
  return {
    ...(names !== undefined && { names }),
    ...(kinds !== undefined && { kinds }),
    ...(ids !== undefined && ids.length > 0 && { ids }),
  }
}

/** The signed-in operator, or the name that a program sends beside the token. */
function whoActs({ viewer }: FastifyRequest, by: string | undefined): string {
  const name = viewer.user ?? by
  if (name === undefined)
    throw new DirsyncdError('usage', 'Give your name in the field by, so that others know who it was.')
  return printable(name).slice(0, 100)
}
