import { randomUUID } from 'node:crypto'
import { openRemoteControl } from '../control/remote.ts'
import { socketPath } from '../admin/socket.ts'
import type { Config, SyncConfig } from '../config/config.ts'
import { sentence } from '../errors.ts'
import type { Log } from '../log.ts'
import type { SourceSnapshot } from '../directory/snapshot.ts'
import type { Source } from '../source/source.ts'
import { checkAccess } from '../target/check-access.ts'
import { createLimit } from './limit.ts'
import { openClient, openSite, openSource, type Site } from './site.ts'

/** One line of `dirsyncd check`; `ok` is null for what is only told. */
export interface CheckLine {
  readonly sync: string
  readonly label: string
  readonly ok: boolean | null
  readonly detail: string
}

/** Proves, line by line, that store, sources, tokens and directories work. Problems are lines, not errors. */
export async function* runCheck(
  config: Config,
  log: Log,
  request: { readonly writes: boolean; readonly sync?: string },
  signal: AbortSignal,
): AsyncGenerator<CheckLine> {
  await using stack = new AsyncDisposableStack()
  yield { sync: '', label: 'configuration', ok: true, detail: config.file }
  const { line, site } = await checkStores(stack, config, log)
  yield line
  for (const sync of config.syncs) {
    if (request.sync !== undefined && sync.name !== request.sync) continue
    yield* checkSource(sync, log, signal)
    yield* checkDirectory(sync, { site, log, writes: request.writes }, signal)
  }
}

/** The stores are opened unless a daemon of this configuration has them; then it is asked how it is. */
async function checkStores(
  stack: AsyncDisposableStack,
  config: Config,
  log: Log,
): Promise<{ line: CheckLine; site: Site | undefined }> {
  const base = { sync: '', label: 'store and queue' }
  try {
    if (config.store.kind === 'embedded') {
      const daemon = await openRemoteControl(socketPath(config.dataDir))
      await daemon?.[Symbol.asyncDispose]()
      if (daemon)
        return { line: { ...base, ok: true, detail: 'the running daemon has them' }, site: undefined }
    }
    const site = stack.use(await openSite(config, 'dirsyncd check', log))
    const detail = `${config.store.kind} store, queue on ${config.queue.kind === 'redis' ? 'Redis' : 'the store'}`
    return { line: { ...base, ok: true, detail }, site }
  } catch (error) {
    return { line: { ...base, ok: false, detail: sentence(error) }, site: undefined }
  }
}

async function* checkSource(sync: SyncConfig, log: Log, signal: AbortSignal): AsyncGenerator<CheckLine> {
  const line = (label: string, ok: boolean | null, detail: string) => ({ sync: sync.name, label, ok, detail })
  let source: Source
  let snapshot: SourceSnapshot
  try {
    source = openSource(sync.source, log)
    for (const { label, detail } of await source.probe(signal)) yield line(label, true, detail)
    snapshot = await source.read(signal)
  } catch (error) {
    signal.throwIfAborted()
    yield line('source', false, sentence(error))
    return
  }
  const { users, groups, notices, unreadable } = snapshot
  yield line('source', users.size > 0, `${users.size} users and ${groups.size} groups can be used`)
  for (const user of [...users.values()].slice(0, SAMPLES)) {
    yield line(
      'user',
      null,
      `${user.id}: ${user.name ?? 'no name'}, ${user.email ?? 'no e-mail'} (${user.from})`,
    )
  }
  for (const group of [...groups.values()].slice(0, SAMPLES)) {
    yield line('group', null, `${group.id}: ${group.name}, ${group.members.length} members (${group.from})`)
  }
  for (const notice of notices.slice(0, SAMPLES))
    yield line('note', null, `${notice.id ?? ''} ${notice.detail}`.trim())
  if (notices.length > SAMPLES) yield line('note', null, `and ${notices.length - SAMPLES} more like these`)
  if (unreadable > 0) {
    yield line('deletes', null, `nothing is deleted while ${unreadable} entries of the source cannot be read`)
  }
}

/** How many entries are shown of each kind. */
const SAMPLES = 3

async function* checkDirectory(
  sync: SyncConfig,
  { site, log, writes }: { site: Site | undefined; log: Log; writes: boolean },
  signal: AbortSignal,
): AsyncGenerator<CheckLine> {
  const limit = site && createLimit(sync.directory, { backend: site.backend, pool: site.store.pool })
  const device = site?.deviceId ?? `dirsyncd-check-${randomUUID()}`
  await using client = openClient(sync, { deviceId: device, limit, log })
  const { directoryId } = sync.directory
  try {
    for (const line of await checkAccess(client, { directoryId }, { writes }, signal)) {
      const label = line.label === 'directory' ? line.label : `directory ${line.label}`
      yield { ...line, sync: sync.name, label }
    }
  } catch (error) {
    signal.throwIfAborted()
    yield { sync: sync.name, label: 'directory', ok: false, detail: sentence(error) }
  }
}
