import { connectSocket } from '../base/socket/socket-client.ts'
import { type Control, OPERATIONS, type Operation } from './control.ts'
import type { ReloadReport } from './reload.ts'

export async function reloadRemotely(socket: string): Promise<ReloadReport | undefined> {
  await using daemon = await connectSocket(socket, {
    who: 'daemon',
    afterLoss: 'The next one reads the configuration anyway.',
  })
  return daemon?.call<ReloadReport>('POST', '/reload')
}

/** The daemon may have loaded another configuration than the file has now. */
export type RemoteControl = Control & Required<Pick<Control, 'configuration'>>

export async function openRemoteControl(socket: string): Promise<RemoteControl | undefined> {
  const daemon = await connectSocket(socket, {
    who: 'daemon',
    afterLoss: 'What it was asked for goes on when it runs again.',
    whenSilent: 'Nothing was asked of it, so repeat the command when it runs.',
  })
  if (daemon === undefined) return undefined
  const calling =
    (operation: Operation) =>
    async (...given: readonly unknown[]) => {
      const signal = given.find((each) => each instanceof AbortSignal)
      const input = given.filter((each) => each !== signal)
      return (await daemon.call<{ answer?: unknown }>('POST', '/call', { operation, input }, signal)).answer
    }
  const operations = Object.fromEntries(OPERATIONS.map((each) => [each, calling(each)]))
  // Safe: the daemon has these operations, and answers with what they return.
  const control = operations as unknown as Omit<RemoteControl, typeof Symbol.asyncDispose>
  return { ...control, [Symbol.asyncDispose]: () => daemon[Symbol.asyncDispose]() }
}
