import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Browse } from '../../operations/browse.ts'
import type { Control } from '../../operations/control.ts'
import type { SyncOverview } from '../../operations/overview.ts'
import { DirsyncdError } from '../../base/errors.ts'
import { read } from '../http/answer-errors.ts'
import { changePage } from './change.ts'
import { CHANGES_SHOWN, changesSection } from './changes.ts'
import { html, type Html } from './html.ts'
import { layout, type Page } from './layout.ts'
import { overviewPage } from './overview.ts'
import * as params from './params.ts'
import { peoplePage } from './people.ts'
import { quarantinePage } from './quarantine.ts'
import { noticesPage, runPage } from './run.ts'
import { runOf } from './run-of.ts'
import { RUNS_SHOWN, runsPage } from './runs.ts'
import { goneSyncPage, SYNC_RUNS, syncPage } from './sync.ts'
import { undoPage } from './undo.ts'

export interface PageSources {
  readonly control: Omit<Control, typeof Symbol.asyncDispose>
  readonly browse: Browse
  readonly overview: () => Promise<readonly SyncOverview[]>
}

/** A page loads its own style, script and icon, and nothing else. */
const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

export function sendPage(reply: FastifyReply, page: string): FastifyReply {
  return reply.header('content-security-policy', POLICY).type('text/html; charset=utf-8').send(page)
}

export function addPages(app: FastifyInstance, { control, browse, overview }: PageSources): void {
  const get = (url: string, make: (request: FastifyRequest) => Promise<Page>) => {
    app.get(url, async (request, reply) => sendPage(reply, layout(await make(request), request.viewer)))
  }
  get('/', async () => overviewPage(await overview(), new Date()))
  get('/runs', async (request) => {
    const { sync, before } = read(params.runsQuery, request.query)
    const asked = {
      limit: RUNS_SHOWN + 1,
      ...(sync !== undefined && { sync }),
      ...(before !== undefined && { before }),
    }
    return runsPage(await control.runs(asked), { sync, before }, new Date())
  })
  addRunPages(get, browse)
  get('/syncs/:sync', async (request) => {
    const { sync } = read(params.syncParams, request.params)
    const found = (await overview()).find((each) => each.sync === sync)
    const runs = await control.runs({ sync, limit: SYNC_RUNS })
    if (found !== undefined) return syncPage(found, runs, recordedAs(request), new Date())
    if (runs.length > 0) return goneSyncPage(sync, runs, new Date())
    throw new DirsyncdError('run-unknown', `There is no sync "${sync}" in the configuration.`)
  })
  get('/syncs/:sync/people', async (request) => {
    const { sync } = read(params.syncParams, request.params)
    const { who, kind } = read(params.peopleQuery, request.query)
    return peoplePage(await control.explain({ sync, who, ...(kind !== undefined && { kind }) }))
  })
  get('/quarantine', async (request) => {
    const { sync, skip } = read(params.quarantineQuery, request.query)
    const all = await control.quarantine(sync === undefined ? {} : { sync })
    return quarantinePage(all, { sync, skip }, new Date())
  })
}

const NOTICES_SHOWN = 200

function addRunPages(
  get: (url: string, make: (request: FastifyRequest) => Promise<Page>) => void,
  browse: Browse,
): void {
  get('/runs/:run', async (request) => {
    const run = await runOf(browse, read(params.runParams, request.params).run)
    const { after, before, ...filter } = read(params.changesQuery, request.query)
    const place = { after, before, limit: CHANGES_SHOWN }
    const page = await browse.changes(run.run, filter, place)
    const changes = changesSection(run, page, { ...filter, after, before })
    return runPage({ run, changes, name: recordedAs(request), now: new Date() })
  })
  get('/runs/:run/changes/:number', async (request) => {
    const { run: wanted, number } = read(params.changeParams, request.params)
    const run = await runOf(browse, wanted)
    const { changes } = await browse.changes(wanted, {}, { after: number - 1, limit: 1 })
    const [change] = changes
    if (change?.number !== number)
      throw new DirsyncdError(
        'run-unknown',
        `Run ${wanted} has no change ${number}, or it is not kept any more.`,
      )
    return changePage(run, change)
  })
  get('/runs/:run/notices', async (request) => {
    const run = await runOf(browse, read(params.runParams, request.params).run)
    const { code, after } = read(params.noticesQuery, request.query)
    const asked = {
      limit: NOTICES_SHOWN + 1,
      ...(code !== undefined && { code }),
      ...(after !== undefined && { after }),
    }
    return noticesPage(run, await browse.notices(run.run, asked), { code, limit: NOTICES_SHOWN })
  })
  get('/runs/:run/undo', async (request) =>
    undoPage(await runOf(browse, read(params.runParams, request.params).run), recordedAs(request)),
  )
}

/** A program without a name gives one with the form. */
function recordedAs({ viewer: { user } }: FastifyRequest): Html | false {
  return user !== undefined && html`<p>Recorded as done by <bdi>${user}</bdi>.</p>`
}
