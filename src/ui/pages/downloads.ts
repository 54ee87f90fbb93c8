import { Readable } from 'node:stream'
import { stringify } from 'csv-stringify/sync'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Browse } from '../../operations/browse.ts'
import { noticeText } from '../messages/notices.ts'
import type { ChangeView, NumberedNotice } from '../../operations/control.ts'
import { membersDifference } from '../../core/plan/change.ts'
import { read } from '../http/answer-errors.ts'
import { blockedTexts } from './changes.ts'
import { runParams } from './params.ts'
import { runOf } from './run-of.ts'

export function addDownloads(app: FastifyInstance, browse: Browse): void {
  const sources = [
    { name: 'changes', each: browse.eachChange, columns: CHANGE_COLUMNS, row: changeRow },
    { name: 'notices', each: browse.eachNotice, columns: NOTICE_COLUMNS, row: noticeRow },
  ] as const
  for (const { name, each, columns, row } of sources) {
    app.get(`/runs/:run/${name}.csv`, async (request, reply) => {
      const { run } = await runOf(browse, read(runParams, request.params).run)
      const content = csv(columns, row as Row, await begun(each(run)))
      return send(reply, `run-${run}-${name}.csv`, 'text/csv; charset=utf-8', content)
    })
    app.get(`/runs/:run/${name}.json`, async (request, reply) => {
      const { run } = await runOf(browse, read(runParams, request.params).run)
      const content = json(await begun(each(run)))
      return send(reply, `run-${run}-${name}.json`, 'application/json; charset=utf-8', content)
    })
  }
}

type Parts = AsyncIterable<readonly object[]>

/**
 * Reads the first part before anything is sent, so that an outage of the store still gets its status. A later read
 * error cuts the connection: the client sees a truncated download.
 */
async function begun(parts: Parts): Promise<Parts> {
  const iterator = parts[Symbol.asyncIterator]()
  const first = await iterator.next()
  return (async function* () {
    if (first.done !== true) yield first.value
    yield* { [Symbol.asyncIterator]: () => iterator }
  })()
}

type Row = (item: object) => object

function send(reply: FastifyReply, file: string, type: string, content: AsyncIterable<string>): FastifyReply {
  return reply
    .type(type)
    .header('content-disposition', `attachment; filename="${file}"`)
    .send(Readable.from(content, { objectMode: false }))
}

/** Quotes against formulas; the BOM makes spreadsheets read UTF-8. */
async function* csv(columns: readonly string[], row: Row, parts: Parts): AsyncGenerator<string, void> {
  yield stringify([columns], { bom: true })
  for await (const part of parts) {
    yield stringify(part.map(row), { columns: [...columns], escape_formulas: true })
  }
}

async function* json(parts: Parts): AsyncGenerator<string, void> {
  yield '['
  let separator = '\n'
  for await (const part of parts) {
    yield separator + part.map((item) => JSON.stringify(item)).join(',\n')
    separator = ',\n'
  }
  yield '\n]\n'
}

const NOTICE_COLUMNS = ['number', 'kind', 'id', 'code', 'detail']

const CHANGE_COLUMNS = [
  'number',
  'op',
  'id',
  'name before',
  'email before',
  'employee id before',
  'name after',
  'email after',
  'employee id after',
  'members added',
  'members removed',
  'why',
  'state',
  'reasons',
  'blocked because',
  'status',
  'detail',
]

function noticeRow(notice: NumberedNotice): object {
  return { ...notice, detail: noticeText(notice) }
}

function changeRow(view: ChangeView): Readonly<Record<string, unknown>> {
  const { number, change, state, status, detail, reasons } = view
  const blocked = {
    reasons: reasons.map(({ code }) => code).join('\n'),
    'blocked because': blockedTexts(view).join('\n'),
  }
  const shared = { number, op: change.op, id: change.id, state, status, detail, ...blocked }
  if (change.op === 'set-members') {
    const { added, removed } = membersDifference(change)
    const lists = { 'members added': added.join('\n'), 'members removed': removed.join('\n') }
    return { ...shared, 'name before': change.name, ...lists }
  }
  const have: Values = 'have' in change ? change.have : {}
  const want: Values = 'want' in change ? change.want : {}
  return {
    ...shared,
    'name before': have.name,
    'email before': have.email,
    'employee id before': have.employeeId,
    'name after': want.name,
    'email after': want.email,
    'employee id after': want.employeeId,
    why: 'why' in change ? change.why : undefined,
  }
}

type Values = Readonly<Partial<Record<'name' | 'email' | 'employeeId', string | null>>>
