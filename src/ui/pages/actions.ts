import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { type Control, earlierPauseText, type RunSummary } from '../../operations/control.ts'
import { notReleasedText } from '../../operations/released.ts'
import { DirsyncdError } from '../../base/errors.ts'
import type { Part } from '../../core/plan/part/part.ts'
import { printable } from '../../base/printable.ts'
import { read } from '../http/answer-errors.ts'
import { path, withQuery } from './html.ts'
import * as params from './params.ts'

type Operations = Omit<Control, typeof Symbol.asyncDispose>

export function addActions(app: FastifyInstance, control: Operations): void {
  addDecisions(app, control)
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
    const only =
      id === undefined
        ? undefined
        : { users: kind === 'user' ? [id] : [], groups: kind === 'group' ? [id] : [] }
    const asked = { ...(sync !== undefined && { sync }), ...(only !== undefined && { only }) }
    const released = await control.release({ ...asked, by: whoActs(request, by) })
    const missing = notReleasedText(asked, released)
    if (missing !== undefined) throw new DirsyncdError('id-unknown', missing)
    return reply.redirect(withQuery('/quarantine', { sync }), 303)
  })
}

function addDecisions(app: FastifyInstance, control: Operations): void {
  app.post('/runs/:run/approve', async (request, reply) => {
    const { run } = read(params.runParams, request.params)
    const { by, what, reason, seen, ...part } = formOf(params.decisionForm, request)
    const choice = what === 'part' ? { part: partOf(part) } : chosen(what, part)
    const approved = await control.approve({ run, by: whoActs(request, by), reason, seen, ...choice })
    return toRun(reply, (await applying(control, approved)) ?? run)
  })
  app.post('/runs/:run/reject', async (request, reply) => {
    const { run } = read(params.runParams, request.params)
    const { by, what, reason, seen, ...part } = formOf(params.decisionForm, request)
    if (what === 'part')
      throw new DirsyncdError(
        'usage',
        'A part of a plan is approved, not rejected: what is left out waits on.',
      )
    const rejected = await control.reject({
      run,
      by: whoActs(request, by),
      reason,
      seen,
      ...chosen(what, part),
    })
    return toRun(reply, (await applying(control, rejected)) ?? run)
  })
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

/** Undefined where nothing is applied yet. */
async function applying(control: Operations, { run, sync }: RunSummary): Promise<number | undefined> {
  const newest = await control.runs({ sync, limit: 10 })
  return newest.findLast(({ approvalOf, finishedAt }) => approvalOf === run && finishedAt === null)?.run
}

/** A form that names a part never means all, even where nothing is selected. */
function chosen(what: string, part: ChosenPart): { readonly only?: readonly string[] } {
  if (Object.keys(namedPart(part)).length > 0)
    throw new DirsyncdError(
      'usage',
      'A part of the plan is named, and not chosen: choose "only a part of the plan", or name none. Nothing was decided.',
    )
  return what.startsWith('only:') ? { only: [what.slice('only:'.length)] } : {}
}

type ChosenPart = Omit<z.output<typeof params.partForm>, 'by'>

function partOf(chosenPart: ChosenPart): Part {
  const part = namedPart(chosenPart)
  if (Object.keys(part).length === 0)
    throw new DirsyncdError(
      'usage',
      'Say which part: creates, updates, deletes, members, users, groups, or ids.',
    )
  return part
}

/** Without empty choices, which stand for all. */
function namedPart({ names, kinds, ids }: ChosenPart): Part {
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
