import { chmod, chown, mkdir, readdir } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openAddress, socketPath } from '../../../../src/base/socket/socket.ts'
import { connectSocket } from '../../../../src/base/socket/socket-client.ts'
import { tempDir } from '../../../support/temp.ts'

let stack: AsyncDisposableStack
let dir: string

beforeEach(async () => {
  stack = new AsyncDisposableStack()
  dir = stack.use(await tempDir()).path
})
afterEach(() => {
  process.seteuid!(process.getuid!())
  return stack.disposeAsync()
})

const connect = (dataDir: string) =>
  connectSocket(socketPath(dataDir), { who: 'daemon', afterLoss: 'Nothing is lost.' })

async function listen(dataDir: string): Promise<Server> {
  const { path } = stack.use(await openAddress(socketPath(dataDir)))
  const server = createServer((_request, response) => response.end('{"well":true}')).listen(path)
  stack.defer(() => void server.close())
  await once(server, 'listening')
  return server
}

test('a command reaches the daemon of a data directory whose path is longer than a socket can have', async () => {
  const dataDir = join(dir, 'd'.repeat(200))
  await mkdir(dataDir)
  const before = await readdir(tmpdir())
  expect(await connect(dataDir)).toBeUndefined()
  await listen(dataDir)
  expect(await readdir(dataDir)).toEqual(['admin.sock'])
  await using daemon = await connect(dataDir)
  expect(await daemon?.call('GET', '/runs')).toEqual({ well: true })
  expect(
    (await readdir(tmpdir())).filter((name) => !before.includes(name) && name.endsWith('.sock')),
  ).toEqual([])
})

describe.runIf(process.geteuid?.() === 0)('a socket of another user', () => {
  const [OTHER, STRANGER] = [54_321, 12_345]

  test('is not known to be there in a data directory that is closed to this user', async () => {
    const dataDir = join(dir, 'data')
    await mkdir(dataDir, { mode: 0o700 })
    for (const path of [dir, dataDir]) await chown(path, OTHER, OTHER)
    await chmod(dir, 0o755)
    process.seteuid!(STRANGER)
    const refused = connect(dataDir)
    await expect(refused).rejects.toMatchObject({ code: 'daemon-unreachable' })
    await expect(refused).rejects.toThrow(
      `The data directory ${dataDir} belongs to user number ${OTHER}, and this user may not look into it; run the ` +
        'command as that user.',
    )
    await expect(connect(join(dataDir, 'deeper', 'still'))).rejects.toThrow(
      `The data directory ${dataDir}/deeper/still is in ${dataDir}, which belongs to user number ${OTHER}, and this user`,
    )
  })

  test('that refuses this user is named', async () => {
    await listen(dir)
    for (const path of [dir, socketPath(dir)]) await chown(path, OTHER, OTHER)
    await chmod(dir, 0o755)
    await chmod(socketPath(dir), 0o600)
    process.seteuid!(STRANGER)
    await expect(connect(dir)).rejects.toThrow(
      `The daemon's socket ${dir}/admin.sock belongs to another user; run the command as the user that the daemon runs as.`,
    )
  })

  test('is used where that user owns the folder', async () => {
    await listen(dir)
    for (const path of [dir, socketPath(dir)]) await chown(path, OTHER, OTHER)
    await using daemon = await connect(dir)
    expect(daemon).toBeDefined()
  })

  test('is not used where the folder is that of somebody else, and is named', async () => {
    await listen(dir)
    await chown(dir, OTHER, OTHER)
    await chown(socketPath(dir), STRANGER, STRANGER)
    await expect(connect(dir)).rejects.toMatchObject({ code: 'daemon-unreachable' })
    await expect(connect(dir)).rejects.toThrow(
      `The daemon's socket ${dir}/admin.sock belongs to user number ${STRANGER}, and not to this user, to root or to the owner of ${dir}, so nothing was asked there.`,
    )
  })
})

test('a daemon that does not answer at all was asked nothing, and the command says so', async () => {
  const dataDir = join(dir, 'silent')
  await mkdir(dataDir)
  const { path } = stack.use(await openAddress(socketPath(dataDir)))
  const server = createServer((_request, response) => void response.destroy()).listen(path)
  stack.defer(() => void server.close())
  await once(server, 'listening')
  const options = { who: 'daemon', afterLoss: 'It goes on.', whenSilent: 'Nothing was asked.' } as const
  await expect(connectSocket(socketPath(dataDir), options)).rejects.toThrow(/Nothing was asked\.$/)
})
