import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { type Endpoint, endpoints, type Operation, PREFIX } from '../../src/api/contract/endpoints.ts'
import { program } from '../support/packages.ts'
import { startProgram } from '../support/program.ts'
import { freePort } from '../support/server-process.ts'
import { tempDir } from '../support/temp.ts'
import { createDatabase, SERVICE_TEMPLATE } from '../support/databases.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const DEMO = join(ROOT, 'config/demo')
const DEMO_URL = 'http://127.0.0.1:8090'
const OPERATIONS = Object.keys(endpoints) as Operation[]

const run = promisify(execFile)
const page = readFileSync(join(ROOT, 'docs/api.md'), 'utf8')

/** Every command of the page, in its order. */
const COMMANDS = [...page.matchAll(/^```sh\n(curl [\s\S]*?)\n```$/gm)].map(([, command = '']) => command)

/** Which operation a request is, by its method and path. */
function operationOf(method: string, url: string): Operation | undefined {
  const { pathname } = new URL(url)
  return OPERATIONS.find((operation) => {
    const { path, method: expected } = endpoints[operation]
    const pattern = `${PREFIX}${path}`.replaceAll(/\{\w+\}/g, '[^/]+')
    return method === expected && new RegExp(`^${pattern}$`).test(pathname)
  })
}

describe('the commands of docs/api.md', () => {
  const stack = new AsyncDisposableStack()
  let baseUrl: string
  let dir: string
  const done: Operation[] = []

  beforeAll(async () => {
    dir = stack.use(await tempDir()).path
    const port = await freePort()
    const service = {
      listen: `127.0.0.1:${port}`,
      store: await createDatabase(SERVICE_TEMPLATE),
      keyFile: join(DEMO, 'keys.txt'),
      fixture: join(DEMO, 'organizations.yaml'),
    }
    const config = join(dir, 'access-service.yaml')
    await writeFile(config, stringify({ dataDir: './data', log: { level: 'warn' }, service }))
    await stack
      .use(startProgram(['start', '--config', config], { program: 'access-service' }))
      .waitForOutput(/listens on/)
    baseUrl = `http://127.0.0.1:${port}`
  })

  afterAll(() => stack.disposeAsync())

  test.each(COMMANDS)('%s', async (command) => {
    expect(command).toContain(DEMO_URL)
    const body = join(dir, 'body')
    await writeFile(body, '')
    const asked = command.replaceAll(DEMO_URL, baseUrl).replace(/^curl/, program('curl'))
    const script = `${asked} -s -o "$BODY" -w '%{http_code} %{method} %{url_effective}'`
    const { stdout } = await run('bash', ['-c', script], { cwd: ROOT, env: { ...process.env, BODY: body } })
    const [status, method = '', url = ''] = stdout.split(' ')
    const operation = operationOf(method, url)
    expect(operation, `${method} ${url} is no endpoint`).toBeDefined()
    const answer = await readFile(body, 'utf8')
    expect({ status, answer }).toEqual({ status: String(endpoints[operation!].status), answer })
    done.push(operation!)
  })

  test('are one for each endpoint', () => {
    expect(done.toSorted()).toEqual(OPERATIONS.toSorted())
  })
})

/** The rows of the table that says which test proves which endpoint. */
function tableRows(text: string): string[] {
  const [, section = ''] = text.split(/^## Tests of each endpoint$/m)
  return section.split('\n').filter((line) => /^\| +\d/.test(line))
}

describe('the table of docs/api.md', () => {
  const rows = tableRows(page)

  test('has a row for each endpoint, in order', () => {
    const expected = OPERATIONS.map((operation) => {
      const { number, method, path }: Endpoint = endpoints[operation]
      return [String(number), `\`${method} ${path}\``, `\`${operation}\``]
    })
    expect(rows.map((row) => cellsOf(row).slice(0, 3))).toEqual(expected)
  })

  test.each(OPERATIONS)('names tests that are about %s', (operation) => {
    const row = rows.find((each) => each.includes(`\`${operation}\``)) ?? ''
    const tests = [...(cellsOf(row)[3] ?? '').matchAll(/\btest\/[\w./-]+\.test\.ts\b/g)].map(([name]) => name)
    expect(tests.length).toBeGreaterThan(0)
    expect(tests.filter((name) => !existsSync(join(ROOT, name)))).toEqual([])
    for (const name of tests) {
      expect(readFileSync(join(ROOT, name), 'utf8')).toMatch(new RegExp(`\\b${operation}\\b`))
    }
  })
})

function cellsOf(row: string): string[] {
  return row
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())
}
