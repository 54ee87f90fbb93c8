import { parseArgs } from 'node:util'
import type { Comparison } from './compare.ts'
import { benchBatch, benchCreates, benchEmbedded, benchFirstFill, benchWorkers } from './creates.ts'
import { benchCsv } from './csv.ts'
import { benchIdle } from './idle.ts'
import { benchLdap } from './ldap.ts'
import { benchLimit } from './limit.ts'
import { benchMillion } from './million.ts'
import { benchPages } from './pages.ts'
import { render, thisMachine } from './render.ts'
import { benchServiceWrites } from './service-writes.ts'
import { benchUnchanged } from './unchanged.ts'

const BENCHES = {
  unchanged: benchUnchanged,
  creates: benchCreates,
  batch: benchBatch,
  'first-fill': benchFirstFill,
  limit: benchLimit,
  embedded: benchEmbedded,
  workers: benchWorkers,
  'service-writes': benchServiceWrites,
  million: benchMillion,
  csv: benchCsv,
  ldap: benchLdap,
  pages: benchPages,
  idle: benchIdle,
} as const

const NAMES = Object.keys(BENCHES)

const HELP = `npm run bench -- [--json] [--only ${NAMES.join('|')}] [--repetitions N] [--people N]
See bench/README.md.
`

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean', default: false },
      only: { type: 'string' },
      repetitions: { type: 'string' },
      people: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return void process.stdout.write(HELP)
  const { only, repetitions, people } = values
  if (only !== undefined && !NAMES.includes(only))
    throw new Error(`there is no benchmark "${only}"; see --help`)
  const options = {
    repetitions: repetitions === undefined ? undefined : Number(repetitions),
    people: people === undefined ? undefined : Number(people),
  }
  const machine = thisMachine()
  const comparisons: Comparison[] = []
  for (const [name, bench] of Object.entries(BENCHES)) {
    if (only !== undefined && only !== name) continue
    process.stderr.write(`${name} …\n`)
    comparisons.push(...(await bench(options)))
  }
  const result = values.json
    ? JSON.stringify({ machine, comparisons }, null, 2)
    : render(machine, comparisons)
  process.stdout.write(`${result}\n`)
}

await main()
