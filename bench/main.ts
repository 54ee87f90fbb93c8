import { parseArgs } from 'node:util'
import { benchBudget, type BudgetFigures } from './budget.ts'
import type { Comparison } from './compare.ts'
import { benchCsv } from './csv.ts'
import { benchCreates, benchEmbedded } from './creates.ts'
import { thisMachine } from './machine.ts'
import { benchMillion } from './million.ts'
import { render, renderBudget } from './render.ts'
import { benchUnchanged } from './unchanged.ts'

const BENCHES = {
  unchanged: benchUnchanged,
  creates: benchCreates,
  embedded: benchEmbedded,
  million: benchMillion,
  csv: benchCsv,
} as const

const NAMES = [...Object.keys(BENCHES), 'budget']

const HELP = `npm run bench -- [--json] [--only ${NAMES.join('|')}] [--repetitions N] [--profile DIR]
See bench/README.md.
`

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean', default: false },
      only: { type: 'string' },
      repetitions: { type: 'string' },
      profile: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return void process.stdout.write(HELP)
  const { only, repetitions, profile } = values
  if (only !== undefined && !NAMES.includes(only))
    throw new Error(`there is no benchmark "${only}"; see --help`)
  const options = {
    repetitions: repetitions === undefined ? undefined : Number(repetitions),
    profileDir: profile,
  }
  const machine = thisMachine()
  const comparisons: Comparison[] = []
  for (const [name, bench] of Object.entries(BENCHES)) {
    if (only !== undefined && only !== name) continue
    if (!values.json) process.stderr.write(`${name} …\n`)
    comparisons.push(...(await bench(options)))
  }
  const budget = only === undefined || only === 'budget' ? await measureBudget(values.json) : []
  const tables = [
    ...(comparisons.length > 0 ? [render(machine, comparisons)] : []),
    ...(budget.length > 0 ? [renderBudget(machine, budget)] : []),
  ]
  const result = values.json ? JSON.stringify({ machine, comparisons, budget }, null, 2) : tables.join('\n')
  process.stdout.write(`${result}\n`)
}

async function measureBudget(quiet: boolean): Promise<BudgetFigures[]> {
  if (!quiet) process.stderr.write('budget …\n')
  return benchBudget()
}

await main()
