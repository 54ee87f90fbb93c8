import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Browse } from '../../operations/browse.ts'
import { read } from '../http/answer-errors.ts'
import { isUnderWay, progressBlock } from './progress.ts'
import { runParams } from './params.ts'

/** How often a run is looked at for those who follow it, in milliseconds. */
const LOOK_MS = 1000

/** So often nothing may have changed before a comment is sent, by which a proxy sees that the stream lives. */
const QUIET_LOOKS = 15

/** The progress of a run as server-sent events. */
export function addEvents(app: FastifyInstance, browse: Pick<Browse, 'run'>): void {
  app.get('/runs/:run/events', (request, reply) => {
    const { run } = read(runParams, request.params)
    return reply
      .type('text/event-stream; charset=utf-8')
      .header('x-accel-buffering', 'no')
      .send(Readable.from(progressOf(browse, run), { objectMode: false }))
  })
}

async function* progressOf(browse: Pick<Browse, 'run'>, run: number): AsyncGenerator<string, undefined> {
  let last = ''
  for (let quiet = 0; ; quiet += 1) {
    const view = await browse.run(run)
    if (view === undefined || !isUnderWay(view)) break
    const block = progressBlock(view).toString()
    if (block !== last) yield `event: progress\ndata: ${JSON.stringify(block)}\n\n`
    else if (quiet % QUIET_LOOKS === 0) yield ': still there\n\n'
    last = block
    await sleep(LOOK_MS, undefined, { ref: false })
  }
  yield 'event: end\ndata: {}\n\n'
  return undefined
}
