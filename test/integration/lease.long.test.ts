import { expect, onTestFinished, test } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import { createDatabase, STORE_TEMPLATE } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { runSql, startPostgres } from '../support/postgres.ts'
import { startTcpRelay } from '../support/tcp-relay.ts'
import { breakConnection, leaseConnections, taken, TIMES, untilRenewed } from './lease.ts'

test('a connection of the thread that answers no more is replaced', async () => {
  const url = new URL(await createDatabase(STORE_TEMPLATE))
  let isDeaf = false
  const target = { host: url.hostname, port: Number(url.port) }
  await using relay = await startTcpRelay(target, { host: '127.0.0.1', port: 0 }, (client, upstream) => {
    client.once('data', (startup) => {
      const deafens = !isDeaf && startup.includes('dirsyncd leases')
      upstream.write(startup)
      client.on('data', (data) => (deafens && isDeaf) || upstream.write(data))
    })
    upstream.pipe(client)
  })
  const { port } = url
  url.port = String(relay.port)
  await using relayed = await openStore({ kind: 'postgres', url: url.href })
  url.port = port
  await using watching = await openStore({ kind: 'postgres', url: url.href })
  await using lease = taken(await relayed.leases.take('deaf', 'a', TIMES))
  await eventually(async () => expect(await leaseConnections(watching)).toBe(1))
  isDeaf = true
  // The first renewal may have been under way.
  await untilRenewed('deaf', 2, watching)
  expect(lease.signal.aborted).toBe(false)
  expect(await watching.leases.take('deaf', 'b', TIMES)).toBeUndefined()
})

test('a password that was changed is asked for again', async () => {
  const server = await startPostgres()
  onTestFinished(() => server.close())
  const url = await server.createDatabase()
  await runSql(url, "create role locked login superuser password 'old'")
  await using watching = await openStore({ kind: 'postgres', url })
  let password = 'old'
  const login = { url: url.replace('postgres@', 'locked@'), password: async () => password }
  await using changing = await openStore({ kind: 'postgres', ...login })
  await using lease = taken(await changing.leases.take('changed', 'a', TIMES))
  await eventually(async () => expect(await leaseConnections(watching)).toBe(1))
  await runSql(url, "alter role locked password 'new'")
  password = 'new'
  await breakConnection(watching)
  await untilRenewed('changed', 1, watching)
  expect(lease.signal.aborted).toBe(false)
  expect(await watching.leases.take('changed', 'b', TIMES)).toBeUndefined()
})
