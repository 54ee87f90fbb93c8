import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { type ProgramResult, type Program, type ProgramOptions, runCommand, startProgram } from './program.ts'
import { freePort } from './server-process.ts'
import type { RequestLine } from '../../src/service/http/request-log.ts'
import { newKeyLine } from '../../src/service/keys/vault.ts'
import { createDatabase, SERVICE_TEMPLATE, STORE_TEMPLATE } from './databases.ts'
import { putEmptyStore } from './empty-store.ts'
import { FIXTURE_YAML } from './fixture.ts'
import { openServicePool, type RunningService, startService } from './service.ts'
import { tempDir } from './temp.ts'
import { OWN_DATABASE } from './sync-config.ts'

/** The access-management service with its own port and database. */
export interface ServiceSite extends AsyncDisposable {
  readonly baseUrl: string
  requests(): Promise<readonly RequestLine[]>
  stop(): Promise<void>
  /** Restarts the service on its port. `faults` replaces the initial faults; '' means none. */
  start(faults?: string): Promise<void>
}

/** A service in its own process, which a test can kill. */
export interface ServiceProcess extends ServiceSite {
  readonly pid: number
  /** `signal` is SIGTERM by default. */
  stop(signal?: NodeJS.Signals): Promise<void>
}

export interface ServiceSiteOptions {
  readonly fixture?: string
  readonly faults?: string
  readonly uniqueExternalIds?: boolean
}

/** Starts the service in this process, by default with the fixture of the tests. */
export async function startServiceSite(options: ServiceSiteOptions = {}): Promise<ServiceSite> {
  await using stack = new AsyncDisposableStack()
  const pool = stack.adopt(await openServicePool(), (opened) => opened.end())
  const requests: RequestLine[] = []
  const requestLog = { write: (line: RequestLine) => void requests.push(line), close: () => {} }
  let running: RunningService | undefined
  const start = async (faults = options.faults ?? '') => {
    const port = running === undefined ? 0 : Number(new URL(running.baseUrl).port)
    running = await startService({ ...options, faults, pool, port, requestLog })
  }
  stack.defer(() => running?.close())
  await start()
  const owned = stack.move()
  return {
    baseUrl: running!.baseUrl,
    requests: async () => requests,
    stop: async () => running?.close(),
    start,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Starts access-service in its own process, with the fixture of the tests. */
export async function startServiceProcess(options: ProgramOptions = {}): Promise<ServiceProcess> {
  await using stack = new AsyncDisposableStack()
  const dir = stack.use(await tempDir())
  const port = await freePort()
  const requestLog = join(dir.path, 'requests.jsonl')
  await writeFile(join(dir.path, 'keys'), newKeyLine('test'))
  await writeFile(join(dir.path, 'fixture.yaml'), FIXTURE_YAML)
  const config = join(dir.path, 'access-service.yaml')
  const service = {
    listen: `127.0.0.1:${port}`,
    store: await createDatabase(SERVICE_TEMPLATE),
    keyFile: './keys',
    fixture: './fixture.yaml',
    requestLog,
    rateLimit: null,
  }
  await writeFile(config, stringify({ dataDir: './data', log: { level: 'warn' }, service }))
  let program: Program | undefined
  const start = async () => {
    program = startProgram(['start', '--config', config], { ...options, program: 'access-service' })
    await program.waitForOutput(/listens on/)
  }
  stack.defer(() => program?.[Symbol.asyncDispose]())
  await start()
  const owned = stack.move()
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    get pid() {
      return program!.pid
    },
    start,
    stop: async (signal = 'SIGTERM') => {
      program?.kill(signal)
      await program?.ended
    },
    requests: async () => {
      const text = await readFile(requestLog, 'utf8').catch(() => '')
      // The text after the last line break is an incomplete line.
      return text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as RequestLine)
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** A folder with a configuration, in which a test runs commands like an administrator. */
export interface Site extends AsyncDisposable {
  readonly dir: string
  readonly dataDir: string
  /** Writes a file into the folder. Resolves with its path. */
  write(name: string, text: string | Uint8Array): Promise<string>
  /** Writes the configuration. */
  configure(config: object): Promise<void>
  /** Runs a command in this process. */
  run(...args: readonly string[]): Promise<ProgramResult>
  /** Runs a command with `--json` and parses each line that it prints. */
  json(...args: readonly string[]): Promise<{ code: number | null; lines: any[]; stderr: string }>
  start(...args: readonly string[]): Program
}

export async function openSite(options: ProgramOptions = {}): Promise<Site> {
  const dir = await tempDir()
  const config = join(dir.path, `${options.program ?? 'dirsyncd'}.yaml`)
  const dataDir = join(dir.path, 'data')
  let database: string | undefined
  const withConfig = (args: readonly string[]) => [...args, '--config', config]
  return {
    dir: dir.path,
    dataDir,
    write: async (name, text) => {
      const path = join(dir.path, name)
      await writeFile(path, text)
      return path
    },
    configure: async (value) => {
      if ('store' in value && value.store === 'embedded') await putEmptyStore(dataDir)
      const isOwn = 'store' in value && value.store === OWN_DATABASE
      if (isOwn) database ??= await createDatabase(STORE_TEMPLATE)
      await writeFile(config, stringify(isOwn ? { ...value, store: database } : value))
    },
    run: (...args) => runCommand(withConfig(args), options),
    json: async (...args) => {
      const { code, stdout, stderr } = await runCommand([...withConfig(args), '--json'], options)
      const lines = stdout.split('\n').filter((line) => line !== '')
      return { code, stderr, lines: lines.map((line) => JSON.parse(line)) }
    },
    start: (...args) => startProgram(withConfig(args), options),
    [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose](),
  }
}
