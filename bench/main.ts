import { parseArgs } from 'node:util'
import { benchBudget } from './budget.ts'
import type { Comparison } from './compare.ts'
import { benchCsv } from './csv.ts'
import { benchBatch, benchCreates, benchEmbedded } from './creates.ts'
import { benchExplain } from './explain.ts'
import { benchFirstFill } from './first-fill.ts'
import { benchIdle } from './idle.ts'
import { thisMachine } from './machine.ts'
import { benchLdap } from './ldap.ts'
import { benchLimit } from './limit.ts'
import { benchMessages } from './messages.ts'
import { benchMillion } from './million.ts'
import { benchPages } from './pages.ts'
import { render, renderBudget, renderExplain, renderIdle, renderPages } from './render.ts'
import { benchScale, drawScale } from './scale.ts'
import { benchGroups, benchUnchanged, benchUnchangedLarge } from './unchanged.ts'
import { benchServiceWrites } from './service-writes.ts'
import { benchWorkers } from './workers.ts'

const BENCHES = {
  unchanged: benchUnchanged,
  'unchanged-large': benchUnchangedLarge,
  groups: benchGroups,
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
  messages: benchMessages,
} as const

const NAMES = [...Object.keys(BENCHES), 'budget', 'idle', 'explain', 'pages', 'scale']

const HELP = `npm run bench -- [--json] [--only ${NAMES.join('|')}] [--repetitions N] [--people N] [--profile DIR]
npm run bench -- --draw
See bench/README.md.
`

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean', default: false },
      only: { type: 'string' },
      repetitions: { type: 'string' },
      people: { type: 'string' },
      profile: { type: 'string' },
      draw: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return void process.stdout.write(HELP)
  const { only, repetitions, people, profile } = values
  if (only !== undefined && !NAMES.includes(only))
    throw new Error(`there is no benchmark "${only}"; see --help`)
  const options = {
    repetitions: repetitions === undefined ? undefined : Number(repetitions),
    people: people === undefined ? undefined : Number(people),
    profileDir: profile,
  }
  const machine = thisMachine()
  // It takes long and writes a page of the documentation, so it is measured only where it is asked for.
  if (only === 'scale') await benchScale(machine, options)
  if (only === 'scale' || values.draw) return drawScale()
  const comparisons: Comparison[] = []
  const measure = async <T>(name: string, bench: () => Promise<T[]>): Promise<T[]> => {
    if (only !== undefined && only !== name) return []
    if (!values.json) process.stderr.write(`${name} …\n`)
    return bench()
  }
  for (const [name, bench] of Object.entries(BENCHES)) {
    comparisons.push(...(await measure(name, () => bench(options))))
  }
  const budget = await measure('budget', benchBudget)
  const idle = await measure('idle', benchIdle)
  const explain = await measure('explain', () => benchExplain(options))
  const pages = await measure('pages', () => benchPages(options))
  const tables = [
    ...(comparisons.length > 0 ? [render(machine, comparisons)] : []),
    ...(budget.length > 0 ? [renderBudget(machine, budget)] : []),
    ...(idle.length > 0 ? [renderIdle(machine, idle)] : []),
    ...(explain.length > 0 ? [renderExplain(machine, explain)] : []),
    ...(pages.length > 0 ? [renderPages(machine, pages)] : []),
  ]
  const result = values.json
    ? JSON.stringify({ machine, comparisons, budget, idle, explain, pages }, null, 2)
    : tables.join('\n')
  process.stdout.write(`${result}\n`)
}

await main()
