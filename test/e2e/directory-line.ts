import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { AccessManagementClient } from '../../src/api/client/client.ts'
import { makeCertificates } from '../support/certificates.ts'
import { CSV_SOURCE, csvFiles, people } from '../support/company.ts'
import { directoriesFixture, FIXTURE } from '../support/fixture.ts'
import { runProgram } from '../support/program.ts'
import { openSite, type ServiceSite, type Site, startServiceSite } from '../support/site.ts'
import { databaseConfig, directorySection } from '../support/sync-config.ts'
import { tempDir } from '../support/temp.ts'

/** How the program reaches the service: over TLS with a company's own CA, and through its HTTP proxy. */
const COMPANY = people(3)
const DIRECTORIES = [21, 22, 23, 24]

const stack = new AsyncDisposableStack()
let service: ServiceSite
/** The service behind `https://localhost:…`, with the PEM file of its CA. */
let secure: { readonly baseUrl: string; readonly caFile: string }
let proxy: ConnectProxy
let site: Site
let tests = 0

beforeAll(async () => {
  const directories = DIRECTORIES.map((id) => `{ id: ${id}, name: Directory ${id} }`)
  service = stack.use(await startServiceSite({ fixture: directoriesFixture(directories) }))
  secure = await startTlsFront(Number(new URL(service.baseUrl).port))
  proxy = stack.use(await startConnectProxy())
  site = stack.use(await openSite())
  for (const [name, text] of Object.entries(csvFiles(COMPANY))) await site.write(name, text)
  await site.write('ca.pem', await readFile(secure.caFile))
})
afterAll(() => stack.disposeAsync())
beforeEach(() => {
  tests += 1
  proxy.refusal = undefined
  proxy.asked.length = 0
})

async function startTlsFront(port: number) {
  const dir = stack.use(await tempDir())
  const { caFile, certFile, keyFile } = await makeCertificates(dir.path, 'localhost')
  const server = createTlsServer(
    { cert: await readFile(certFile), key: await readFile(keyFile) },
    (client) => {
      const upstream = connect(port, '127.0.0.1')
      for (const socket of [client, upstream]) socket.on('error', () => undefined)
      client.on('close', () => upstream.destroy()).pipe(upstream)
      upstream.on('close', () => client.destroy()).pipe(client)
    },
  )
  server.on('tlsClientError', () => undefined)
  return { baseUrl: `https://localhost:${await listen(server)}`, caFile }
}

interface ConnectProxy extends AsyncDisposable {
  readonly url: string
  /** The host and port of each CONNECT. */
  readonly asked: string[]
  /** The status with which it refuses; empty: it never answers. */
  refusal: string | undefined
}

/** An HTTP proxy that knows CONNECT and nothing else. */
async function startConnectProxy(): Promise<ConnectProxy> {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    sockets.add(client.on('error', () => undefined))
    client.once('data', (head) => {
      const [, host = '', port = ''] = /^CONNECT (\S+):(\d+) /.exec(head.toString()) ?? []
      started.asked.push(`${host}:${port}`)
      if (started.refusal === '') return
      if (started.refusal !== undefined) {
        client.end(`HTTP/1.1 ${started.refusal}\r\ncontent-length: 0\r\n\r\n`)
        return
      }
      const upstream = connect(Number(port), host).on('error', () => client.destroy())
      sockets.add(upstream)
      client.write('HTTP/1.1 200 OK\r\n\r\n')
      client.on('close', () => upstream.destroy()).pipe(upstream)
      upstream.on('close', () => client.destroy()).pipe(client)
    })
  })
  const started: ConnectProxy = {
    url: `http://127.0.0.1:${await listen(server)}`,
    asked: [],
    refusal: undefined,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
  return started
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stack.defer(() => void server.close())
  return (server.address() as { port: number }).port
}

/** A configuration whose one sync reaches a directory of its own like this. */
async function configure(line: object): Promise<void> {
  const directory = directorySection(service, {
    directoryId: DIRECTORIES[tests % DIRECTORIES.length],
    ...line,
  })
  await site.configure(databaseConfig([{ name: 'corp', source: CSV_SOURCE, directory }]))
}

async function check() {
  const { code, stdout } = await site.run('check', 'corp', '--no-samples')
  return { code, stdout }
}

/** What `npm test` runs. */
export function directoryLineTests(): void {
  test('a CA of the company is trusted where it is configured, and by nobody else', async () => {
    await configure({ baseUrl: secure.baseUrl })
    expect((await check()).stdout).toContain(
      'authority that is not trusted here. Name the CA of the service in directory.ca.',
    )
    await configure({ baseUrl: secure.baseUrl, ca: './ca.pem' })
    expect(await site.run('sync', 'corp')).toMatchObject({ code: 0, stderr: '' })
  })

  test('a CA that this machine trusts needs no configuration', async () => {
    await configure({ baseUrl: secure.baseUrl })
    const args = ['check', 'corp', '--no-samples', '--config', `${site.dir}/dirsyncd.yaml`]
    const env = { SSL_CERT_FILE: `${site.dir}/ca.pem` }
    expect(await runProgram(args, { env })).toMatchObject({ code: 0 })
  })

  test('through a proxy, but for hosts that NO_PROXY names', async () => {
    await configure({ baseUrl: secure.baseUrl, ca: './ca.pem', proxy: proxy.url })
    expect(await site.run('sync', 'corp')).toMatchObject({ code: 0, stderr: '' })
    const { host } = new URL(secure.baseUrl)
    expect([...new Set(proxy.asked)]).toEqual([host])
    proxy.asked.length = 0
    const args = ['sync', 'corp', '--config', `${site.dir}/dirsyncd.yaml`]
    expect(await runProgram(args, { env: { NO_PROXY: 'localhost' } })).toMatchObject({ code: 0 })
    expect(proxy.asked).toEqual([])
  })

  test('a proxy that never answers is given up when the time for a connection is over', async () => {
    proxy.refusal = ''
    await using client = new AccessManagementClient({
      ...FIXTURE,
      baseUrl: service.baseUrl,
      deviceId: 'line',
      proxy: proxy.url,
      timeouts: { connectMs: 300 },
      retries: { attempts: 1 },
    })
    await expect(client.listDirectories()).rejects.toThrow('no answer within the time-out')
  })
}

/** What only `npm run test:long` runs. */
export function directoryLineLongTests(): void {
  test('a proxy that refuses, or is not there, is named', async () => {
    await configure({ proxy: proxy.url })
    proxy.refusal = '407 Proxy Authentication Required'
    expect((await check()).stdout).toContain(
      'the proxy refused to connect to it (407). Check directory.proxy',
    )
    await configure({ proxy: 'http://127.0.0.1:9' })
    expect((await check()).stdout).toContain(
      'the proxy http://127.0.0.1:9 cannot be reached: connection refused',
    )
  })
}
