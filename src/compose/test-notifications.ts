import { randomUUID } from 'node:crypto'
import type { Config } from '../config/config.ts'
import { DirsyncdError, sentence } from '../base/errors.ts'
import { TEST } from '../ui/notify/wording.ts'
import { orAbort, withAnySignal } from '../api/client/wait.ts'
import { routesOf } from './routes.ts'

export interface TestedChannel {
  readonly channel: string
  readonly type: string
  /** The address, of a channel with several. */
  readonly recipient: string | null
  readonly delivered: boolean
  /** One sentence where the delivery failed. */
  readonly detail: string | null
}

/** The operator waits for the result. */
const PATIENCE_MS = 60_000

/** Sends to every recipient of all channels, or of this one. Throws `usage` where there is none. */
export async function* testNotifications(
  { notifications: { channels } }: Config,
  only: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<TestedChannel> {
  const asked = channels.filter(({ name }) => only === undefined || name === only)
  if (asked.length === 0) {
    const names = channels.map(({ name }) => name).join(', ')
    const which = names === '' ? 'notifications.channels is empty' : `there are ${names}`
    const what = only === undefined ? 'There is no channel' : `There is no channel "${only}"`
    throw new DirsyncdError('usage', `${what} to notify: ${which}.`)
  }
  const id = `test-${randomUUID()}`
  const routes = asked.flatMap((config) => routesOf(config).map((route) => ({ ...route, type: config.type })))
  for (const { channel, type, recipient, open } of routes) {
    const tested = { channel, type, recipient: recipient?.address ?? null }
    await using opened = open()
    try {
      await withAnySignal([signal, AbortSignal.timeout(PATIENCE_MS)], (either) =>
        orAbort(opened.send({ ...TEST, id, createdAt: new Date() }, either), either),
      )
      yield { ...tested, delivered: true, detail: null }
    } catch (error) {
      signal.throwIfAborted()
      const isLate = error instanceof DOMException && error.name === 'TimeoutError'
      const detail = isLate ? `nothing within ${PATIENCE_MS / 1000} s` : sentence(error)
      yield { ...tested, delivered: false, detail }
    }
  }
}
