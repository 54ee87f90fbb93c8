import { execFileSync } from 'node:child_process'
import { chownSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { Container, Images, type RunOptions } from '../support/images.ts'
import { tempDir } from '../support/temp.ts'

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))

const stack = new AsyncDisposableStack()
let dir: string
let images: Images
let options: RunOptions
let daemon: Container

beforeAll(async () => {
  dir = stack.use(await tempDir()).path
  images = new Images(dir)
  images.makeBases()
  images.build('.', 'dirsyncd')
  options = { root: images.mount('dirsyncd'), volumes: prepareVolumes(), env: environmentOf('dirsyncd') }
  daemon = stack.use(new Container(options, besideService(commandOf('dirsyncd'))))
  await daemon.says(/"end":"done"/)
})
afterAll(() => stack.disposeAsync())

/** The demo in the places of a container: its configuration, its data, and nothing else. */
function prepareVolumes(): Readonly<Record<string, string>> {
  const [config, data] = [join(dir, 'config'), join(dir, 'data')]
  mkdirSync(config)
  mkdirSync(data)
  chownSync(data, 1000, 1000)
  cpSync(at('config/demo'), join(config, 'demo'), { recursive: true })
  const demo = readFileSync(at('config/demo.yaml'), 'utf8')
    .replace(/^dataDir: .*/m, 'dataDir: /var/lib/dirsyncd')
    .replace(/^log: .*/m, 'log: { level: info }')
  writeFileSync(join(config, 'dirsyncd.yaml'), demo)
  const service = readFileSync(at('config/demo/access-service.yaml'), 'utf8')
  const inVolume = service.replace(/^dataDir: .*/m, 'dataDir: /var/lib/dirsyncd')
  writeFileSync(join(config, 'demo/access-service.yaml'), inVolume)
  return { [config]: '/etc/dirsyncd', [data]: '/var/lib/dirsyncd' }
}

/** Has the container run access-service, too, by its name on the PATH. */
function besideService(command: readonly string[]): readonly string[] {
  const script = 'access-service start --config /etc/dirsyncd/demo/access-service.yaml & exec "$@"'
  return ['sh', '-c', script, 'sh', ...command]
}

function environmentOf(image: string): Readonly<Record<string, string>> {
  const entries = (images.inspect(image).Env as readonly string[]).map((each) => {
    const [name = '', ...value] = each.split('=')
    return [name, value.join('=')]
  })
  return Object.fromEntries(entries) as Record<string, string>
}

function commandOf(image: string, ...args: readonly string[]): readonly string[] {
  const { Entrypoint, Cmd } = images.inspect(image)
  return [...Entrypoint, ...(args.length === 0 ? Cmd : args)]
}

test('the image runs as a user without a name to guess, and knows how to ask for its health', () => {
  const { User, Healthcheck, StopSignal, Volumes, ExposedPorts } = images.inspect('dirsyncd')
  expect({ User, StopSignal, Volumes, ExposedPorts }).toEqual({
    User: '1000:1000',
    StopSignal: 'SIGTERM',
    Volumes: { '/var/lib/dirsyncd': {}, '/var/lib/access-service': {} },
    ExposedPorts: { '8080/tcp': {} },
  })
  const [kind, ...command] = Healthcheck.Test
  expect(kind).toBe('CMD')
  expect(daemon.exec(...command)).toEqual({ code: 0, output: '' })
})

test('the image has the program and what it needs, and nothing that it does not', () => {
  const { root } = options
  expect(readdirSync(join(root, 'app')).toSorted()).toEqual([
    'LICENSE',
    'dist',
    'node_modules',
    'package.json',
  ])
  const modules = readdirSync(join(root, 'app/node_modules'))
  expect(modules).toContain('bullmq')
  for (const name of ['vitest', 'typescript', 'oxlint', 'node', 'smtp-server'])
    expect(modules).not.toContain(name)
})

test('it runs as user 1000 without any capability, and can write its data only', () => {
  const status = readFileSync(`/proc/${daemon.pid}/status`, 'utf8')
  expect(/^Uid:\s+(.*)$/m.exec(status)?.[1]?.split('\t')).toEqual(['1000', '1000', '1000', '1000'])
  for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'])
    expect([set, new RegExp(`^${set}:\\s+(\\w+)$`, 'm').exec(status)?.[1]]).toEqual([set, '0000000000000000'])
  expect(/^NoNewPrivs:\s+1$/m.test(status)).toBe(true)
  for (const path of ['/app/x', '/etc/x', '/usr/local/bin/x'])
    expect(daemon.exec('touch', path)).toMatchObject({
      code: 1,
      output: expect.stringMatching(/Read-only|Permission/),
    })
  expect(daemon.exec('touch', '/var/lib/dirsyncd/x')).toMatchObject({ code: 0 })
})

test('every command works within, by its short name', () => {
  const runs = daemon.exec('dirsyncd', 'runs', '--json')
  // The schedule may have begun another one by now.
  const first = runs.output.split('\n').find((line) => line.startsWith('{"run":1,'))
  expect(JSON.parse(first ?? 'null')).toMatchObject({ run: 1, state: 'done' })
  expect(daemon.exec('dirsyncd', 'sync', 'demo')).toMatchObject({
    code: 0,
    output: expect.stringContaining('no changes'),
  })
  expect(daemon.exec('dirsyncd', 'check', '--no-samples')).toMatchObject({ code: 0 })
  expect(daemon.exec('dirsyncd', 'explain', 'demo', 'p100001')).toMatchObject({ code: 0 })
  expect(daemon.exec('dirsyncd', 'nonsense')).toMatchObject({ code: 64 })
  const contacts = ['contact', 'list', '--config', '/etc/dirsyncd/demo/access-service.yaml']
  expect(daemon.exec('access-service', ...contacts)).toMatchObject({ code: 0 })
})

test('it ends in time when it is told to, and the next one goes on', async () => {
  const { code, ms } = await daemon.stop()
  expect([code, ms < 10_000]).toEqual([0, true])
  await using next = new Container(options, besideService(commandOf('dirsyncd')))
  await next.says(/"msg":"daemon started"/)
  expect(next.exec('dirsyncd', 'runs', '1').output).toContain('done')
})

test('docker-compose understands its file', () => {
  const file = at('docker-compose.yml')
  const config = execFileSync('docker-compose', ['--file', file, 'config'], { encoding: 'utf8' })
  expect(Object.keys(parse(config).services).toSorted()).toEqual([
    'access-management',
    'daemon',
    'openldap',
    'postgres',
    'redis',
    'worker',
  ])
})

test('the image of the sample OpenLDAP has a server that runs as its own user', () => {
  images.build('deploy/openldap', 'openldap')
  const root = images.mount('openldap')
  expect(images.inspect('openldap').User).toBe('openldap')
  const version = execFileSync('chroot', [root, 'sh', '-c', '/usr/sbin/slapd -VV 2>&1'], { encoding: 'utf8' })
  expect(version).toContain('OpenLDAP: slapd 2.5')
})
