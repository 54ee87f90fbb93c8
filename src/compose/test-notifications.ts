import { randomUUID } from 'node:crypto'
import type { Config } from '../config/config.ts'
import { DirsyncdError, sentence } from '../errors.ts'
import { TEST } from '../notify/wording.ts'
import { orAbort, withAnySignal } from '../client/wait.ts'
import { openChannel } from './notifier.ts'

export interface TestedChannel {
  readonly channel: string
  readonly type: string
  readonly delivered: boolean
  /** Why not, in a sentence. */
  readonly detail: string | null
}

/** Who waits for a test wants to know after a while. */
const PATIENCE_MS = 60_000

/** Sends a test to every channel, or to this one. Throws `usage` where there is none. */
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
  for (const config of asked) {
    const { name: channel, type } = config
    await using opened = openChannel(config)
    try {
      await withAnySignal([signal, AbortSignal.timeout(PATIENCE_MS)], (either) =>
        orAbort(opened.send({ ...TEST, id, createdAt: new Date() }, either), either),
      )
      yield { channel, type, delivered: true, detail: null }
    } catch (error) {
      signal.throwIfAborted()
      const isLate = error instanceof DOMException && error.name === 'TimeoutError'
      const detail = isLate ? `nothing within ${PATIENCE_MS / 1000} s` : sentence(error)
      yield { channel, type, delivered: false, detail }
    }
  }
}
