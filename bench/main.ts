import { parseArgs } from 'node:util'
import type { Comparison } from './compare.ts'
import { benchCsv } from './csv.ts'
import { benchCreates, benchEmbedded } from './creates.ts'
import { thisMachine } from './machine.ts'
import { benchMillion } from './million.ts'
import { render } from './render.ts'
import { benchUnchanged } from './unchanged.ts'

const BENCHES = {
  unchanged: benchUnchanged,
  creates: benchCreates,
  embedded: benchEmbedded,
  million: benchMillion,
  csv: benchCsv,
} as const

const HELP = `npm run bench -- [--json] [--only ${Object.keys(BENCHES).join('|')}] [--repetitions N] [--profile DIR]
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
  if (only !== undefined && !(only in BENCHES)) throw new Error(`there is no benchmark "${only}"; see --help`)
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
  const result = values.json
    ? JSON.stringify({ machine, comparisons }, null, 2)
    : render(machine, comparisons)
  process.stdout.write(`${result}\n`)
}

await main()
