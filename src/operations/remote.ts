import { DirsyncdError } from '../base/errors.ts'
import type { Control, QuarantinedChange, RunSummary, RunView, SyncPause } from './control.ts'
import type { After } from './parts.ts'
import type { ReloadReport, WrittenSync } from './reload.ts'
import type { Explanation } from './story.ts'
import { connectSocket } from '../base/socket/socket-client.ts'

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
  })
  if (daemon === undefined) return undefined
  return {
    requestRun: async (request) => (await daemon.call<{ run: number }>('POST', '/runs', request)).run,
    run: async (number, detail) => {
      try {
        return await daemon.call<RunView>('GET', `/runs/${number}?limit=${detail?.limit ?? 1000}`)
      } catch (error) {
        if (error instanceof DirsyncdError && error.code === 'run-unknown') return undefined
        throw error
      }
    },
    changes: (run, place) => daemon.call('GET', `/runs/${run}/changes${queryOf(place)}`),
    notices: (run, place) => daemon.call('GET', `/runs/${run}/notices${queryOf(place)}`),
    runs: ({ sync, limit }) => {
      const query = new URLSearchParams({ limit: String(limit), ...(sync !== undefined && { sync }) })
      return daemon.call<readonly RunSummary[]>('GET', `/runs?${query.toString()}`)
    },
    approve: ({ run, ...decision }) => daemon.call<RunSummary>('POST', `/runs/${run}/approve`, decision),
    undo: async (request) => (await daemon.call<{ run: number }>('POST', '/undo', request)).run,
    pause: ({ sync, ...request }) => daemon.call('POST', `/syncs/${encodeURIComponent(sync)}/pause`, request),
    resume: async ({ sync, by }) => {
      const path = `/syncs/${encodeURIComponent(sync)}/resume`
      return (await daemon.call<{ pause: SyncPause | null }>('POST', path, { by })).pause
    },
    paused: () => daemon.call<readonly SyncPause[]>('GET', '/paused'),
    quarantine: (filter) => {
      const query = new URLSearchParams({ ...filter })
      return daemon.call<readonly QuarantinedChange[]>('GET', `/quarantine?${query.toString()}`)
    },
    release: (request) => daemon.call<readonly QuarantinedChange[]>('POST', '/quarantine/release', request),
    reject: ({ run, ...decision }) => daemon.call<RunSummary>('POST', `/runs/${run}/reject`, decision),
    explain: ({ sync, who, kind }, signal) => {
      const query = new URLSearchParams({ sync, who, ...(kind !== undefined && { kind }) })
      return daemon.call<Explanation>('GET', `/explain?${query.toString()}`, undefined, signal)
    },
    configuration: () => daemon.call<readonly WrittenSync[]>('GET', '/configuration'),
    [Symbol.asyncDispose]: () => daemon[Symbol.asyncDispose](),
  }
}

function queryOf({ after }: After): string {
  return after === undefined ? '' : `?after=${after}`
}
