import { once } from 'node:events'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { silentLog } from '../../src/base/log/log.ts'
import { createCommandSource } from '../../src/source/command/command-source.ts'
import type { CommandSourceOptions } from '../../src/source/command/options.ts'
import { createDatabase } from '../support/databases.ts'
import { tempDir } from '../support/temp.ts'

/** The programs of docs/command-source.md, run as they stand there. */
const page = await readFile(new URL('../../docs/command-source.md', import.meta.url), 'utf8')

let stack: AsyncDisposableStack
let dir: string

beforeAll(async () => {
  stack = new AsyncDisposableStack()
  dir = stack.use(await tempDir()).path
})
afterAll(() => stack.disposeAsync())

/** The block of this language that stands first behind a heading. */
function block(heading: string, language: string): string {
  const behind = page.split(`\n## ${heading}`)[1] ?? ''
  const [, text] = new RegExp(`\\n\`\`\`${language}\\n(.*?)\\n\`\`\``, 's').exec(behind) ?? []
  if (text === undefined) throw new Error(`no block of ${language} behind "${heading}"`)
  return `${text}\n`
}

/** The source of a `source:` block, whose program is this one. */
function read(yaml: string, command: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const { users, groups } = (parse(yaml) as { source: Pick<CommandSourceOptions, 'users' | 'groups'> }).source
  const options: CommandSourceOptions = {
    command,
    folder: dir,
    timeoutMs: 60_000,
    environment: () => ({ PATH: process.env.PATH ?? '', ...environment }),
    secretNames: [],
    maxOutput: 1024 ** 2,
    maxEntries: 1000,
    users,
    ...(groups !== undefined && { groups }),
  }
  return createCommandSource(options, silentLog()).read(AbortSignal.timeout(60_000))
}

const CONFIG = /```yaml\n(source:.*?)\n```/s.exec(page)?.[1] ?? ''

test('the lines that a program prints', async () => {
  await writeFile(join(dir, 'lines'), block('What it prints', ''))
  const { users, groups, unreadable } = await read(CONFIG, ['cat', 'lines'])
  expect([...users.values()].map(({ id, name }) => [id, name])).toEqual([
    ['4711', 'Ada King'],
    ['4712', 'Bob Ray'],
  ])
  expect(groups.get('sales')).toMatchObject({ name: 'Sales', members: ['4711', '4712'] })
  expect(unreadable).toBe(0)
})

test('a query of PostgreSQL', async () => {
  const database = new URL(await createDatabase())
  const client = new Client({ connectionString: database.href })
  await client.connect()
  await client.query(`
    create table departments (id int primary key, name text);
    create table people (id int primary key, email text, full_name text, employee_number text, left_on date, department_id int);
    insert into departments values (1, E'R&D "north"\\nhall'), (2, 'Empty');
    insert into people values (1, 'ada@example.org', 'Ada King', '007', null, 1), (2, null, E'Bo\\tRay', null, null, null),
      (3, 'gone@example.org', 'Gone', null, '2020-01-01', 1);`)
  await client.end()
  const program = join(dir, 'hr-export')
  await writeFile(program, block('Example: PostgreSQL', 'sh'))
  await chmod(program, 0o755)
  const services = join(dir, 'services')
  await writeFile(
    services,
    `[hr]\nhost=127.0.0.1\nport=${database.port}\nuser=postgres\ndbname=${database.pathname.slice(1)}\n`,
  )
  const config = block('Example: PostgreSQL', 'yaml')
  const { users, groups } = await read(config, [program], { PGSERVICEFILE: services })
  expect([...users.values()]).toMatchObject([
    { id: '1', email: 'ada@example.org', name: 'Ada King', employeeId: '007' },
    { id: '2', email: undefined, name: 'Bo\tRay', employeeId: undefined },
  ])
  expect([...groups.values()]).toMatchObject([
    { id: '1', name: 'R&D "north"\nhall', members: ['1'] },
    { id: '2', name: 'Empty', members: [] },
  ])
})

test('an HTTP API asked by Node, and an answer that is none', async () => {
  let status = 200
  const server = createServer((request, response) => {
    const at = Number(URL.parse(request.url ?? '', 'http://x')?.searchParams.get('page'))
    const people = at <= 2 ? [{ id: at, mail: `p${at}@example.org`, name: `Person ${at}` }] : []
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(people))
  }).listen(0, '127.0.0.1')
  stack.defer(() => void server.close())
  await once(server, 'listening')
  const here = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const text = block('Example: an HTTP API', 'js').replace('https://hr.example.org', here)
  await writeFile(join(dir, 'hr.mjs'), text)
  const config = 'source: { users: { map: { external_id: id, email: mail, name: name } } }'
  const { users } = await read(config, [process.execPath, 'hr.mjs'])
  expect([...users.keys()]).toEqual(['1', '2'])
  status = 500
  await expect(read(config, [process.execPath, 'hr.mjs'])).rejects.toThrow(
    /exit code 1 and said: .*page 1: 500/s,
  )
})
