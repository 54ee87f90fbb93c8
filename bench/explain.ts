import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { type ProgramResult, startProgram } from '../test/support/program.ts'
import { person } from '../test/support/people.ts'
import { directorySection, embeddedConfig } from '../test/support/sync-config.ts'
import { BASE, peopleSections, startSlapd } from '../test/support/slapd.ts'
import { tempDir } from '../test/support/temp.ts'
import type { BenchOptions } from './options.ts'
import { csvOf, entriesOf } from './people.ts'
import { startInstantService } from './services.ts'

/** How long a person waits for `dirsyncd explain`, from the start of the command to its end. */
export interface ExplainFigures {
  readonly source: 'ldap' | 'csv'
  readonly people: number
  /** Whom the command was asked for, and how. */
  readonly who: string
  readonly besideDaemonMs: number
  readonly aloneMs: number
}

const PEOPLE = 100_000
const SOMEBODY = person(77_777, BASE)

/** The code is 1 where nobody is found. */
const QUESTIONS = [
  { how: 'an id', who: SOMEBODY.entryUuid, code: 0 },
  { how: 'an e-mail', who: SOMEBODY.mail, code: 0 },
  { how: 'a name of many people', who: `${SOMEBODY.givenName} ${SOMEBODY.sn}`, code: 1 },
  { how: 'nobody', who: 'no.one@example.org', code: 1 },
] as const

/** The store has the run that created everybody, so its journal has as many rows as there are people. */
export async function benchExplain(options: BenchOptions): Promise<ExplainFigures[]> {
  const { repetitions = 5, people = PEOPLE } = options
  const figures: ExplainFigures[] = []
  await using slapd = await startSlapd({ people, tls: false })
  const { dn, password } = slapd.readers.reader
  const bind = { dn, password: { command: ['echo', password] } }
  const users = { path: './users.csv', map: { external_id: 'id', email: 'mail', name: 'name' } }
  const sources = {
    ldap: { type: 'ldap', url: slapd.url, bind, ...peopleSections(BASE) },
    csv: { type: 'csv', users },
  } as const
  for (const source of ['ldap', 'csv'] as const) {
    await using dir = await tempDir()
    await using service = await startInstantService({ users: [], groups: [] })
    await writeFile(join(dir.path, 'users.csv'), csvOf(entriesOf(people)))
    const directory = directorySection(service, { createBatch: 100 })
    const config = join(dir.path, 'dirsyncd.yaml')
    const sync = { name: 'corp', source: sources[source], directory }
    await writeFile(config, stringify(embeddedConfig([sync], { log: { level: 'warn' } })))
    await expectCode(['sync', 'corp', '--config', config], 0)
    const alone = await askEach(config, repetitions)
    await using daemon = startProgram(['start', '--config', config], { asInProduction: true })
    await daemon.waitForOutput(/Opening the store|socket/)
    const beside = await askEach(config, repetitions)
    for (const [at, { how: who }] of QUESTIONS.entries())
      figures.push({ source, people, who, besideDaemonMs: beside[at]!, aloneMs: alone[at]! })
  }
  return figures
}

async function askEach(config: string, repetitions: number): Promise<number[]> {
  const medians: number[] = []
  for (const { who, code } of QUESTIONS) {
    const times: number[] = []
    // The first one warms up.
    for (let repetition = 0; repetition <= repetitions; repetition += 1) {
      const began = performance.now()
      await expectCode(['explain', 'corp', who, '--config', config], code)
      if (repetition > 0) times.push(performance.now() - began)
    }
    medians.push(times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]!)
  }
  return medians
}

async function expectCode(args: readonly string[], code: number): Promise<ProgramResult> {
  await using program = startProgram(args, { asInProduction: true })
  const result = await program.ended
  if (result.code !== code)
    throw new Error(`${args.join(' ')} ended with ${result.code}: ${result.stdout}${result.stderr}`)
  return result
}
