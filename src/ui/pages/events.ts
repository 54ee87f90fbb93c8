import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Browse } from '../../operations/browse.ts'
import { read } from '../http/answer-errors.ts'
import { isUnderWay, progressBlock } from './progress.ts'
import { runParams } from './params.ts'

const LOOK_MS = 1000

/** After so many polls without a change, a comment keeps proxies from closing the stream. */
const QUIET_LOOKS = 15

export function addEvents(app: FastifyInstance, browse: Pick<Browse, 'run'>): void {
  app.get('/runs/:run/events', (request, reply) => {
    const { run } = read(runParams, request.params)
    return reply
      .type('text/event-stream; charset=utf-8')
      .header('x-accel-buffering', 'no')
      .send(Readable.from(progressOf(browse, run), { objectMode: false }))
  })
}

async function* progressOf(browse: Pick<Browse, 'run'>, run: number): AsyncGenerator<string, void> {
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
}
