import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { endpoints } from '../../src/contract/endpoints.ts'
import { FIXTURE } from '../support/fixture.ts'
import { type RunningService, startService } from '../support/service.ts'
import { tempDir } from '../support/temp.ts'

/**
 * The package as somebody else's project sees it: built, put into `node_modules` with nothing beside it but what the
 * client needs, and used by programs that know it as `dirsyncd/client` only.
 */
const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const NEEDED = ['p-retry', 'undici', 'zod']
const run = promisify(execFile)

const stack = new AsyncDisposableStack()
let project = ''
let service: RunningService

beforeAll(async () => {
  project = stack.use(await tempDir()).path
  await layOut(project)
  service = await startService()
  stack.defer(() => service.close())
})

afterAll(() => stack.disposeAsync())

async function layOut(path: string): Promise<void> {
  const installed = join(path, 'node_modules', 'dirsyncd')
  await mkdir(join(path, 'node_modules', '@types'), { recursive: true })
  // As `npm run build`; that the sources themselves are sound is what `npm run check` is for.
  await tsc('-p', join(ROOT, 'tsconfig.build.json'), '--noCheck', '--outDir', join(installed, 'dist'))
  await cp(join(ROOT, 'package.json'), join(installed, 'package.json'))
  for (const name of [...NEEDED, '@types/node']) {
    await symlink(join(ROOT, 'node_modules', name), join(path, 'node_modules', name))
  }
  const compilerOptions = {
    target: 'es2024',
    lib: ['es2024', 'esnext.disposable', 'esnext.array'],
    module: 'nodenext',
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    noEmit: true,
  }
  await writeFile(join(path, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  await writeFile(join(path, 'package.json'), JSON.stringify({ name: 'consumer', type: 'module' }))
  for (const name of ['consumer', 'mistakes']) {
    const text = await readFile(join(ROOT, `test/support/library-${name}.ts`), 'utf8')
    await writeFile(join(path, `${name}.ts`), text.replace('../../src/client/index.ts', 'dirsyncd/client'))
  }
  await writeFile(join(path, 'examples.ts'), examplesOf(await readFile(join(ROOT, 'docs/client.md'), 'utf8')))
}

/** The code of the docs as one program: the first block makes the client, every other one has a scope of its own. */
function examplesOf(markdown: string): string {
  const blocks = [...markdown.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code)
  const imports = new Set(blocks.flatMap((code) => code.match(/^import .*$/gm) ?? []))
  const [first = '', ...others] = blocks.map((code) => code.replaceAll(/^import .*$/gm, ''))
  const scopes = others.map((code) => `{\n${code}}\n`)
  return [...imports, first, ...scopes].join('\n')
}

/** What the compiler says goes into the failure. */
async function tsc(...args: readonly string[]): Promise<void> {
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
  await run(process.execPath, [compiler, ...args], { cwd: project }).catch((error: { stdout?: string }) => {
    throw new Error(`tsc ${args.join(' ')}:\n${error.stdout ?? ''}`, { cause: error })
  })
}

async function runProgram(file: string): Promise<string> {
  const env = { PATH: process.env.PATH ?? '', BASE_URL: service.baseUrl, ACCESS_TOKEN: FIXTURE.token }
  const { stdout, stderr } = await run(process.execPath, [file], { cwd: project, env })
  expect(stderr).toBe('')
  return stdout
}

/** The files and packages that a file of the build loads, in the language of the given ending. */
async function loadedBy(
  entry: string,
  ending: '.js' | '.d.ts',
): Promise<{ files: string[]; packages: string[] }> {
  const dist = join(project, 'node_modules/dirsyncd/dist')
  const files = [join(dist, entry + ending)]
  const packages = new Set<string>()
  for (const file of files) {
    const text = (await readFile(file, 'utf8')).replaceAll(/\/\*[\s\S]*?\*\//g, '')
    for (const [, name = ''] of text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*['"]([^'"]+)['"]/g)) {
      const next = resolve(dirname(file), name).replace(/\.[jt]s$/, ending)
      if (!name.startsWith('.')) packages.add(name)
      else if (!files.includes(next)) files.push(next)
    }
  }
  return { files: files.map((file) => relative(dist, file)), packages: [...packages].toSorted() }
}

describe('the package', () => {
  test.each([
    ['.js', [...NEEDED, 'node:http', 'node:timers/promises'].toSorted()],
    ['.d.ts', ['zod']],
  ] as const)('loads the client and the contract only, as %s', async (ending, packages) => {
    const loaded = await loadedBy('client/index', ending)
    expect(loaded.packages).toEqual(packages)
    const strange = loaded.files.filter((file) => !/^(client|contract)\/|^errors\./.test(file))
    expect(strange).toEqual([])
    expect(loaded.files.length).toBeGreaterThan(10)
  })

  test('depends on what it loads', async () => {
    const { dependencies } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
    expect(Object.keys(dependencies)).toEqual(expect.arrayContaining(NEEDED))
  })

  test('shows its client and nothing else', async () => {
    const program = `
      const names = Object.keys(await import('dirsyncd/client'))
      const hidden = await import('dirsyncd/dist/main.js').catch((error) => error.code)
      console.log(JSON.stringify({ names: names.toSorted(), hidden }))`
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], { cwd: project })
    expect(JSON.parse(stdout)).toEqual({
      names: ['AccessManagementClient', 'ApiError', 'isApiError', 'readAllPages'],
      hidden: 'ERR_PACKAGE_PATH_NOT_EXPORTED',
    })
  })
})

test('programs of others compile strictly, and their mistakes do not', async () => {
  await tsc('-p', project)
})

test('a program of others uses all endpoints, one by one and with iterators', async () => {
  const { calls, each, failure } = JSON.parse(await runProgram('consumer.ts'))
  expect(Object.keys(calls).toSorted()).toEqual(Object.keys(endpoints).toSorted())
  expect(calls).toMatchObject({
    listDirectories: { items: [{ id: 7 }], total: 1 },
    getDirectory: { id: 7, name: 'Corporate' },
    createUsers: ['user 200', 'user 201', 'user 202', 'user 203', 'user 204'],
    listUsers: { total: 205, perPage: 100, items: 5 },
    getUser: { external_id: 'user 0', email: null },
    updateUser: { external_id: 'user 0', email: 'zero@example.org' },
    createGroups: [{ external_id: 'group 0' }, { external_id: 'group 1' }],
    listGroups: [{ external_id: 'group 1' }],
    updateGroup: { name: 'Zero', external_member_ids: ['user 1'] },
    getGroup: { name: 'Zero', external_member_ids: ['user 1'] },
    listSubscriptions: [{ id: 101 }, { id: 102 }, { id: 103 }],
    getSubscription: { id: 101, subscriber: { email: 'ada@example.org' } },
    updateSubscription: { id: 101, favorite: false, name: 'Maps', position: 9 },
    createAssertion: { relay_state: 'a b&c', acs_url: 'https://atlas.example/saml/acs' },
    readCredentials: { login: 'ada@example.org', password: FIXTURE.secrets[0] },
    resetPassword: { id: 101, password_strength: { grade: expect.any(String) } },
    listEvents: { total: 1, descriptions: ['Ben Miller changed the password policy.'] },
    listOrganizationGroups: ['Größere Teams'],
    getOrganizationGroup: { id: 51, contacts_count: 2, installations_count: 1 },
    deleteGroup: 204,
    deleteUser: 204,
  })
  expect(each).toMatchObject({
    listDirectories: [7],
    listGroups: ['group 1'],
    listSubscriptions: [101, 102, 103],
    listOrganizationGroups: [51, 52],
  })
  expect(new Set(each.listUsers).size).toBe(204)
  expect(each.listEvents.length).toBeGreaterThan(205)
  expect(each.listEvents).toEqual(each.listEvents.toSorted((a: number, b: number) => b - a))
  expect(failure).toBe('ApiError not-found getUser')
})

describe('the docs', () => {
  test('name every method', async () => {
    const text = await readFile(join(ROOT, 'docs/client.md'), 'utf8')
    const rows = [...text.matchAll(/^\| +(\d+) +\| `(\w+)` +\| .* \| (\w+) +\| (yes)? *\|$/gm)]
    const wanted = Object.entries(endpoints).map(([operation, { number, scope, ...row }]) => [
      String(number),
      operation,
      scope,
      'paged' in row,
    ])
    expect(rows.map(([, number, name, scope, each]) => [number, name, scope, each !== undefined])).toEqual(
      wanted.toSorted((a, b) => Number(a[0]) - Number(b[0])),
    )
  })

  test('have examples that run', async () => {
    const examples = join(project, 'examples.ts')
    const text = await readFile(examples, 'utf8')
    await writeFile(examples, text.replace('https://access.example.com', service.baseUrl))
    const printed = await runProgram('examples.ts')
    expect(printed).toContain('Corporate is a ldap directory')
    expect(printed).toContain('failed: the service answered 404 Not Found')
    expect(printed).toContain('created, 1 requests')
  })
})
