import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sentence } from '../src/base/errors.ts'
import { ownerOf } from '../src/base/database/owner.ts'
import { SERVICE_TABLES } from '../src/service/store/migrations/index.ts'
import { STORE_TABLES } from '../src/store/migrations/index.ts'

/** `npm start`: access-service with the demo's organizations, and dirsyncd beside it, until one of them ends. */
const ROOT = fileURLToPath(new URL('..', import.meta.url))
const DATA = join(ROOT, 'var', 'demo')

const processes: ChildProcess[] = []
let isEnding = false

/** A terminal sends Ctrl-C to all three processes, a service manager signals only this one. */
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => end(signal))
/** A closed terminal, on which the programs themselves would only reload. */
process.on('SIGHUP', () => end('SIGTERM'))

await startOverWithOtherTables().catch((error: unknown) => {
  process.stderr.write(
    `The demo cannot use ${DATA}: ${sentence(error)}. Give this user the folder, or remove it.\n`,
  )
  process.exit(1)
})
start('src/service/main.ts', 'config/demo/access-service.yaml')
start('src/main.ts', 'config/demo.yaml')
const codes = await Promise.all(processes.map(codeOf))
process.exitCode = codes.find((code) => code !== 0) ?? 0

/** Until 1.0.0 no store is upgraded, and those of a demo hold nothing of value. */
async function startOverWithOtherTables(): Promise<void> {
  const form = createHash('sha256')
    .update(JSON.stringify([STORE_TABLES, SERVICE_TABLES]))
    .digest('hex')
  const file = join(DATA, 'form')
  const stores = [join(DATA, 'store'), join(DATA, 'service', 'store')]
  const known = existsSync(file) ? readFileSync(file, 'utf8') : undefined
  if (known === form || (await isInUse())) return
  const made = stores.filter((store) => existsSync(store))
  // One of the programs may have been started alone, with these tables.
  if (made.length === stores.length || (made.length > 0 && known !== undefined)) {
    process.stdout.write(`The demo starts over: its stores in ${DATA} are not known to have these tables.\n`)
    for (const store of made) rmSync(store, { recursive: true })
  }
  mkdirSync(DATA, { recursive: true, mode: 0o700 })
  writeFileSync(file, form)
}

/** Nothing is taken from a demo that runs. */
async function isInUse(): Promise<boolean> {
  const owners = await Promise.all([DATA, join(DATA, 'service')].map((dir) => ownerOf(dir)))
  return owners.some((owner) => owner !== undefined)
}

function start(program: string, config: string): void {
  const args = [program, 'start', '--config', config]
  processes.push(spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit' }))
}

/** Ends the other program, too. */
async function codeOf(child: ChildProcess): Promise<number> {
  const [code] = await once(child, 'exit')
  // A second signal would end the other one at once.
  if (!isEnding) end('SIGTERM')
  return (code as number | null) ?? 1
}

function end(signal: NodeJS.Signals): void {
  isEnding = true
  for (const each of processes) each.kill(signal)
}
