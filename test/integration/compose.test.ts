import { execFile } from 'node:child_process'
import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { createProgram } from '../../src/ui/cli/program.ts'

const run = promisify(execFile)

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const at = (path: string) => join(ROOT, path)

const service = z.object({
  image: z.string(),
  build: z.string().optional(),
  user: z.string().optional(),
  command: z.array(z.string()).optional(),
  entrypoint: z.array(z.string()).optional(),
  restart: z.string(),
  read_only: z.boolean(),
  security_opt: z.array(z.string()),
  cap_drop: z.array(z.string()),
  mem_limit: z.string(),
  pids_limit: z.number(),
  tmpfs: z.array(z.string()),
  ports: z.array(z.string()).default([]),
  networks: z.array(z.string()),
  volumes: z.array(z.string()).default([]),
  secrets: z.array(z.string()).default([]),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
  healthcheck: z.object({ test: z.array(z.string()).optional(), disable: z.boolean().optional() }),
})
const file = z.object({
  services: z.record(z.string(), service),
  secrets: z.record(z.string(), z.object({ file: z.string() })),
  volumes: z.record(z.string(), z.object({})),
  networks: z.record(z.string(), z.object({ internal: z.boolean().default(false) })),
})

const text = await readFile(at('docker-compose.yml'), 'utf8')
const compose = file.parse(parse(text, { merge: true }))
const services = Object.entries(compose.services)
const ours = services.filter(([, { image }]) => image === 'dirsyncd:local')

/** The commands of a tool that validates compose files, of those that this machine has. */
async function validators(): Promise<string[][]> {
  const known = [['docker-compose'], ['docker', 'compose']]
  const found = await Promise.all(
    known.map(([command = '', ...args]) =>
      run(command, [...args, 'version']).then(
        () => true,
        () => false,
      ),
    ),
  )
  return known.filter((_, index) => found[index])
}

describe('docker-compose.yml', () => {
  test('is accepted by the tools that are here', async () => {
    for (const [command = '', ...args] of await validators()) {
      const { stdout } = await run(command, [...args, '--file', at('docker-compose.yml'), 'config'])
      expect(
        Object.keys(z.object({ services: z.record(z.string(), z.unknown()) }).parse(parse(stdout)).services),
      ).toEqual(services.map(([name]) => name).toSorted())
    }
  })

  test('has the daemon, a worker and all that they need', () => {
    expect(services.map(([name]) => name)).toEqual([
      'daemon',
      'worker',
      'access-management',
      'redis',
      'postgres',
      'openldap',
    ])
  })

  test.each(services)('%s waits only for what can be healthy', (_name, { depends_on: needs }) => {
    for (const [name, { condition }] of Object.entries(needs)) {
      expect(condition).toBe('service_healthy')
      expect(compose.services[name]?.healthcheck.test, `the health check of ${name}`).toBeDefined()
    }
  })

  test.each(services)('%s can write nowhere but where it must, and has no rights to lose', (_name, each) => {
    expect(each).toMatchObject({
      restart: 'unless-stopped',
      read_only: true,
      security_opt: ['no-new-privileges:true'],
      cap_drop: ['ALL'],
      tmpfs: expect.arrayContaining(['/tmp']),
    })
  })

  test.each(services)('%s is reached from this machine only, if at all', (_name, { ports }) => {
    expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([])
  })

  test.each(services)('%s mounts what exists', async (_name, { volumes }) => {
    for (const [source = '', , mode] of volumes.map((volume) => volume.split(':'))) {
      if (!source.startsWith('.')) expect(Object.keys(compose.volumes)).toContain(source)
      else {
        await access(at(source))
        expect(mode).toBe('ro')
      }
    }
  })

  test.each(ours)('%s runs a command that there is', (_name, { command }) => {
    const nowhere = { write: () => undefined }
    const program = createProgram({ argv: [], stdout: nowhere, stderr: nowhere }, async () => undefined)
    expect(program.commands.map((each) => each.name())).toContain(command?.[0])
  })

  test('the image of ours is built once, for the service that the others wait for', () => {
    expect(ours.flatMap(([name, { build }]) => (build === undefined ? [] : [[name, build]]))).toEqual([
      ['access-management', '.'],
    ])
    expect(compose.services['daemon']?.depends_on).toHaveProperty('access-management')
    expect(compose.services['worker']?.depends_on).toHaveProperty('daemon')
  })

  test('only the admin page and the service are published, and the stores reach nothing outside', () => {
    const published = services.flatMap(([name, { ports }]) => ports.map((port) => `${name} ${port}`))
    expect(published).toEqual(['daemon 127.0.0.1:8080:8080', 'access-management 127.0.0.1:8090:8090'])
    const open = Object.entries(compose.networks).flatMap(([name, { internal }]) => (internal ? [] : [name]))
    expect(open).toEqual(['published'])
    const reaches = services.flatMap(([name, { networks }]) => (networks.includes('published') ? [name] : []))
    expect(reaches).toEqual(['daemon', 'access-management'])
  })

  test('every image of others has a version of its own', async () => {
    const dockerfiles = await Promise.all(
      ['Dockerfile', 'deploy/openldap/Dockerfile'].map((path) => readFile(at(path), 'utf8')),
    )
    const bases = dockerfiles.flatMap((each) => each.match(/(?<=^FROM )\S+/gm) ?? [])
    const images = services.map(([, { image }]) => image).filter((image) => !image.endsWith(':local'))
    expect(images).toHaveLength(2)
    for (const image of [...bases, ...images]) expect(image).toMatch(/:\D*\d+[.\d]*\d{2,}|:\d+\.\d+/)
  })

  test('declares the secrets that it uses, and no others', () => {
    const used = new Set(services.flatMap(([, { secrets }]) => secrets))
    expect([...used].toSorted()).toEqual(Object.keys(compose.secrets).toSorted())
    for (const [name, { file: path }] of Object.entries(compose.secrets)) {
      expect(path).toBe(`./deploy/secrets/${name}`)
    }
  })

  test('keeps secrets out of the repository and the image', async () => {
    expect(await readFile(at('deploy/secrets/.gitignore'), 'utf8')).toBe('*\n!.gitignore\n')
    const kept = (await readFile(at('.dockerignore'), 'utf8')).match(/(?<=^!).+/gm) ?? []
    expect(kept.filter((path) => /^(deploy|config|var)\b/.test(path))).toEqual([])
  })
})

describe('the Dockerfiles', () => {
  test('ours runs as a user, hands signals on, and is asked for its health', async () => {
    const lines = (await readFile(at('Dockerfile'), 'utf8')).split('\n')
    expect(lines).toContain('USER 1000:1000')
    expect(lines).toContain('ENTRYPOINT ["node", "/app/dist/main.js"]')
    expect(lines).toContain('STOPSIGNAL SIGTERM')
    expect(lines.some((line) => line.startsWith('HEALTHCHECK '))).toBe(true)
  })

  test('ours runs the Node that the tests run on', async () => {
    const lock = z
      .object({ packages: z.object({ 'node_modules/node': z.object({ version: z.string() }) }) })
      .parse(JSON.parse(await readFile(at('package-lock.json'), 'utf8')))
    const { version } = lock.packages['node_modules/node']
    const bases = (await readFile(at('Dockerfile'), 'utf8')).match(/(?<=^FROM )\S+/gm)
    expect(new Set(bases)).toEqual(new Set([`node:${version}-slim`]))
  })

  test('ours copies only what is not ignored', async () => {
    const kept = (await readFile(at('.dockerignore'), 'utf8')).match(/(?<=^!).+/gm) ?? []
    const copies =
      (await readFile(at('Dockerfile'), 'utf8')).match(/(?<=^COPY )(?!--from)[^\n]+(?= \S+$)/gm) ?? []
    expect(new Set(copies.flatMap((sources) => sources.split(' ')))).toEqual(new Set(kept))
  })

  test("OpenLDAP's runs as a user", async () => {
    expect(await readFile(at('deploy/openldap/Dockerfile'), 'utf8')).toContain('\nUSER openldap\n')
  })
})
