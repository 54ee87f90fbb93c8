import { chartOf, type Line } from './chart.ts'
import type { Figures } from './compare.ts'
import {
  AT_ONCE,
  bytesOf,
  type Circumstances,
  COST,
  msOfFill,
  msOfRun,
  requestsOfFill,
  requestsOfRead,
} from './model.ts'
import { megabytes, nameOf, tableOf, time } from './render.ts'
import type { Scale, Size } from './scale.ts'

const LINES = [
  { label: 'run without changes', kind: 'run', side: 'ours', color: 'one' },
  { label: 'floor of the run', kind: 'run', side: 'floor', color: 'one' },
  { label: 'first fill', kind: 'fill', side: 'ours', color: 'two' },
  { label: 'floor of the fill', kind: 'fill', side: 'floor', color: 'two' },
] as const

/** Time and memory over the number of users. */
export function picturesOf({ sizes }: Scale): string {
  const lines = (valueOf: (figures: Figures) => number): Line[] =>
    LINES.map(({ label, kind, side, color }) => ({
      label,
      color,
      isDashed: side === 'floor',
      points: sizes.map((size) => [size.people, valueOf(size[kind][side])] as const),
    }))
  return chartOf(
    [
      { title: 'Time', inWords: briefTime, lines: lines(({ medianMs }) => medianMs) },
      {
        title: 'Peak memory',
        inWords: megabytesInTens,
        lines: lines(({ peakBytes }) => peakBytes / 1024 ** 2),
      },
    ],
    'users',
  )
}

function briefTime(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${Number((ms / 1000).toPrecision(2))} s`
}

function megabytesInTens(value: number): string {
  return `${Number(value.toPrecision(2))} MB`
}

/** The page with the tables of these figures between its markers, such as `<!-- seen -->` and `<!-- /seen -->`. */
export function pageWith(page: string, { machine, sizes }: Scale): string {
  const tables = {
    constants: constants(),
    seen: [`${nameOf(machine)}:`, '', ...tableOf(runRows(sizes)), '', ...tableOf(fillRows(sizes))],
    servers: tableOf(serverRows(sizes)),
    runs: tableOf(computedRuns()),
    fills: tableOf(computedFills()),
  }
  let result = page
  for (const [name, lines] of Object.entries(tables)) {
    const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
    const [from, to] = [result.indexOf(begin), result.indexOf(end)]
    if (from < 0 || to < from) throw new Error(`the page has no place for the table "${name}"`)
    result = `${result.slice(0, from)}${begin}\n\n${lines.join('\n')}\n\n${result.slice(to)}`
  }
  return result
}

function constants(): string[] {
  const { run, fill, usedOfLimit, ldapPage } = COST
  const { sendMicrosPerUser: send } = fill
  const rows = [
    ['of', 'a run without changes', 'a first fill'],
    ['time, fixed', time(run.fixedMs), time(fill.fixedMs)],
    ['CPU for each user', `${run.microsPerUser} µs`, `${fill.planMicrosPerUser} µs to read, plan and store`],
    ['', '', `${send[1]} µs to send alone, ${send[100]} µs in lists of 100`],
    ['memory, fixed', megabytes(run.fixedBytes), megabytes(fill.fixedBytes)],
    ['memory for each user', `${run.bytesPerUser} bytes`, `${fill.bytesPerUser} bytes`],
    ['share of `rateLimit` that is used', `${usedOfLimit * 100} %`, `${usedOfLimit * 100} %`],
    ['users in one page of LDAP', String(ldapPage), String(ldapPage)],
  ]
  return tableOf(rows)
}

const SEEN_HEAD = [
  'requests, computed',
  'seen',
  'time, computed',
  'seen',
  'floor',
  'memory, computed',
  'seen',
  'floor',
]

function runRows(sizes: readonly Size[]): string[][] {
  return [
    ['a run without changes', ...SEEN_HEAD],
    ...sizes.map(({ people, run }) => [
      `${digits(people)} users`,
      ...seen(run, requestsOfRead(people), msOfRun(people, AT_ONCE), bytesOf(COST.run, people)),
    ]),
  ]
}

function fillRows(sizes: readonly Size[]): string[][] {
  return [
    ['a first fill', ...SEEN_HEAD],
    ...sizes.map(({ people, fill }) => [
      `${digits(people)} users`,
      ...seen(fill, requestsOfFill(people, 1), msOfFill(people, AT_ONCE), bytesOf(COST.fill, people)),
    ]),
  ]
}

function seen({ ours, floor, requests }: Size['run'], computed: number, ms: number, bytes: number): string[] {
  return [
    digits(computed),
    digits(requests),
    time(ms),
    time(ours.medianMs),
    time(floor.medianMs),
    megabytes(bytes),
    megabytes(ours.peakBytes),
    megabytes(floor.peakBytes),
  ]
}

function serverRows(sizes: readonly Size[]): string[][] {
  return [
    [
      'a first fill',
      'peak of Redis',
      'the store in the end',
      'slowest `/healthz`',
      'not answered',
      'loop, 99.9 %',
      'at most',
    ],
    ...sizes.map(({ people, fill: { ours, health, redisPeakBytes, databaseBytes } }) => [
      `${digits(people)} users`,
      megabytes(redisPeakBytes),
      megabytes(databaseBytes),
      `${Math.round(health.slowestMs)} ms of ${health.asked}`,
      String(health.failed),
      `${Math.round(ours.loopDelay.p999Ms)} ms`,
      `${Math.round(ours.loopDelay.maxMs)} ms`,
    ]),
  ]
}

const COMPUTED = [100_000, 1_000_000, 10_000_000]
const SLOW = { latencyMs: 20 }
const LIMITED = { perSecond: 10 }

function computedRuns(): string[][] {
  const cases: readonly (readonly [string, Partial<Circumstances>])[] = [
    ['no latency, no limit', {}],
    ['20 ms', SLOW],
    ['20 ms, `readConcurrency: 16`', { ...SLOW, readConcurrency: 16 }],
    ['10 requests a second', LIMITED],
  ]
  const rows = cases.map(([name, more]) => [
    name,
    ...COMPUTED.map((users) => longTime(msOfRun(users, { ...AT_ONCE, ...more }))),
  ])
  const memory = COMPUTED.map((users) => megabytes(bytesOf(COST.run, users)))
  const requests = COMPUTED.map((users) => digits(requestsOfRead(users)))
  return [head('a run without changes'), ...rows, ['requests', ...requests], ['memory', ...memory]]
}

function computedFills(): string[][] {
  const cases: readonly (readonly [string, Partial<Circumstances>])[] = [
    ['no latency, no limit', {}],
    ['the same, lists of 100', { createBatch: 100 }],
    ['20 ms', SLOW],
    ['20 ms, a daemon and 3 workers', { ...SLOW, processes: 4 }],
    ['20 ms, `writeConcurrency: 32`', { ...SLOW, writeConcurrency: 32 }],
    ['20 ms, lists of 100', { ...SLOW, createBatch: 100 }],
    ['10 requests a second', LIMITED],
    ['10 requests a second, lists of 100', { ...LIMITED, createBatch: 100 }],
  ]
  const rows = cases.map(([name, more]) => [
    name,
    ...COMPUTED.map((users) => longTime(msOfFill(users, { ...AT_ONCE, ...more }))),
  ])
  const memory = COMPUTED.map((users) => megabytes(bytesOf(COST.fill, users)))
  return [head('a first fill'), ...rows, ['memory', ...memory]]
}

function head(first: string): string[] {
  return [first, ...COMPUTED.map((users) => `${digits(users)} users`)]
}

function digits(value: number): string {
  return value.toLocaleString('en')
}

/** For days and hours, two digits are enough. */
function longTime(ms: number): string {
  const steps: readonly (readonly [number, string])[] = [
    [86_400_000, 'days'],
    [3_600_000, 'hours'],
    [60_000, 'minutes'],
    [1000, 's'],
  ]
  const [unit, name] = steps.find(([step]) => ms >= 2 * step) ?? [1, 'ms']
  return `${Number((ms / unit).toPrecision(2))} ${name}`
}
