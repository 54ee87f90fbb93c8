import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { endpoints } from '../../src/api/contract/endpoints.ts'
import { FIXTURE } from '../support/fixture.ts'
import { type RunningService, startService } from '../support/service.ts'
import { tempDir } from '../support/temp.ts'

/**
 * The package `@dirsyncd/client` as somebody else's project sees it: packed, installed into an empty folder, and used by
 * programs that know it by this name only.
 */
const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PACKAGE = '@dirsyncd/client'
const DEPENDENCIES = ['p-retry', 'undici', 'zod']
const run = promisify(execFile)

const stack = new AsyncDisposableStack()
let project = ''
let service: RunningService
let installed: { readonly packages: readonly string[]; readonly kilobytes: number }

beforeAll(async () => {
  project = stack.use(await tempDir()).path
  await install(project)
  installed = {
    packages: await packagesIn(join(project, 'node_modules')),
    kilobytes: await diskUsage(join(project, 'node_modules')),
  }
  await writePrograms(project)
  service = await startService()
  stack.defer(() => service.close())
})

afterAll(() => stack.disposeAsync())

/** Packs the client and installs it. Its dependencies come from this repository, so this needs no registry. */
async function install(path: string): Promise<void> {
  const target = stack.use(await tempDir()).path
  await npm(ROOT, 'pack', '-w', 'packages/client', '--pack-destination', target)
  const [tarball = ''] = await readdir(target)
  const folders = (await allDependencies(DEPENDENCIES)).map((name) => join(ROOT, 'node_modules', name))
  await writeFile(join(path, 'package.json'), JSON.stringify({ name: 'consumer', type: 'module' }))
  const options = ['--offline', '--install-links', '--ignore-scripts', '--no-audit', '--no-fund']
  await npm(path, 'install', ...options, join(target, tarball), ...folders)
}

async function npm(cwd: string, ...args: readonly string[]): Promise<void> {
  // Without the variables that `npm test` sets for the npm that it runs.
  const env = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' }
  await run('npm', args, { cwd, env })
}

/** The packages and what they depend on themselves. */
async function allDependencies(names: readonly string[]): Promise<string[]> {
  const all = [...names]
  for (const name of all) {
    const { dependencies = {} } = await readJson(join(ROOT, 'node_modules', name, 'package.json'))
    all.push(...Object.keys(dependencies).filter((each) => !all.includes(each)))
  }
  return all
}

/** The names of all installed packages, packages within packages included. */
async function packagesIn(folder: string): Promise<string[]> {
  const files = await readdir(folder, { recursive: true })
  const names = files.map(
    (file) => /(?:^|node_modules\/)((?:@[^/]+\/)?[^/@]+)\/package\.json$/.exec(file)?.[1],
  )
  return names.filter((name) => name !== undefined).toSorted()
}

async function diskUsage(folder: string): Promise<number> {
  const { stdout } = await run('du', ['-sk', folder])
  return Number.parseInt(stdout, 10)
}

async function readJson(file: string): Promise<Record<string, any>> {
  return JSON.parse(await readFile(file, 'utf8'))
}

/** The programs of the project, and what it needs to check their types. */
async function writePrograms(path: string): Promise<void> {
  await mkdir(join(path, 'node_modules', '@types'))
  await symlink(join(ROOT, 'node_modules/@types/node'), join(path, 'node_modules/@types/node'))
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
  for (const name of ['consumer', 'mistakes']) {
    const text = await readFile(join(ROOT, `test/support/library-${name}.ts`), 'utf8')
    await writeFile(join(path, `${name}.ts`), text.replace('../../src/api/client/index.ts', PACKAGE))
  }
  const docs = await readFile(join(ROOT, 'docs/client.md'), 'utf8')
  await writeFile(join(path, 'examples.ts'), examplesOf(docs))
  const readme = await readFile(join(ROOT, 'packages/client/README.md'), 'utf8')
  await writeFile(join(path, 'readme.mjs'), /^```js\n([\s\S]*?)^```$/m.exec(readme)?.[1] ?? '')
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
  const dist = join(project, 'node_modules', PACKAGE, 'dist')
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
    ['.js', [...DEPENDENCIES, 'node:http', 'node:timers/promises'].toSorted()],
    ['.d.ts', ['zod']],
  ] as const)('loads the client and the contract only, as %s', async (ending, packages) => {
    const loaded = await loadedBy('api/client/index', ending)
    expect(loaded.packages).toEqual(packages)
    const strange = loaded.files.filter((file) => !/^api\/(client|contract)\/|^base\/errors\./.test(file))
    expect(strange).toEqual([])
    expect(loaded.files.length).toBeGreaterThan(10)
  })

  test('depends on what it loads, in the versions of the daemon', async () => {
    const daemon = await readJson(join(ROOT, 'package.json'))
    const client = await readJson(join(ROOT, 'packages/client/package.json'))
    const wanted = DEPENDENCIES.map((name) => [name, daemon['dependencies'][name]])
    expect(client['dependencies']).toEqual(Object.fromEntries(wanted))
    for (const field of ['version', 'engines', 'license']) expect(client[field]).toEqual(daemon[field])
  })

  test('is small: at most 6 packages and 15 MB', () => {
    expect(installed.packages).toEqual([PACKAGE, 'is-network-error', ...DEPENDENCIES].toSorted())
    expect(installed.packages.length).toBeLessThanOrEqual(6)
    expect(installed.kilobytes).toBeLessThan(15_000)
  })

  test('has a README with an example that runs', async () => {
    expect(await runProgram('readme.mjs')).toBe('directory 7 is Corporate\n')
  })

  test('has the license of this repository', async () => {
    const text = await readFile(join(project, 'node_modules', PACKAGE, 'LICENSE'), 'utf8')
    expect(text).toBe(await readFile(join(ROOT, 'LICENSE'), 'utf8'))
  })

  test('shows its client and nothing else', async () => {
    const program = `
      const names = Object.keys(await import('${PACKAGE}'))
      const hidden = await import('${PACKAGE}/dist/base/errors.js').catch((error) => error.code)
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
