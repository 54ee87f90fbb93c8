import { once } from 'node:events'
import { createServer } from 'node:net'

const HOST = '127.0.0.1'
const USUAL = 8080
const TRIED = 20

/** The usual address, or one with the next free port; the usual one where none is free. */
export async function freePagesAddress(): Promise<string> {
  for (let port = USUAL; port < USUAL + TRIED; port += 1) if (await isFree(port)) return `${HOST}:${port}`
  return `${HOST}:${USUAL}`
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  try {
    server.listen(port, HOST)
    await once(server, 'listening')
    return true
  } catch {
    return false
  } finally {
    server.close()
  }
}
