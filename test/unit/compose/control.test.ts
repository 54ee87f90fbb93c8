import { expect, test } from 'vitest'
import { openControl } from '../../../src/compose/control.ts'
import type { Config } from '../../../src/config/config.ts'
import { silentLog } from '../../../src/base/log/log.ts'
import { acquireDataDir, type OwnerInWords } from '../../../src/base/database/owner.ts'
import { tempDir } from '../../support/temp.ts'
import { QUICK } from '../../support/times.ts'

const TIMES = { ...QUICK, daemon: { ...QUICK.daemon, starting: 2500 } }
/** A busy machine may take seconds until the wait is announced. */
const PATIENT = { ...QUICK, daemon: { ...QUICK.daemon, starting: 60_000 } }

function configOf(dataDir: string): Config {
  return { dataDir, syncs: [], store: { kind: 'embedded' }, queue: { kind: 'store' } } as unknown as Config
}

test('who waits for another command is told once whom for, and in the end how to end it', async () => {
  await using temp = await tempDir()
  await using _owned = await acquireDataDir(temp.path, { command: 'dirsyncd sync' })
  const waits: OwnerInWords[] = []
  const { signal } = new AbortController()
  const options = {
    command: 'dirsyncd pause',
    signal,
    onWait: (owner: OwnerInWords) => waits.push(owner),
    onUnread: () => undefined,
  }
  const opening = openControl(configOf(temp.path), silentLog(), options, TIMES)
  await expect(opening).rejects.toThrow(
    new RegExp(
      `is in use by process ${process.pid} on .*Wait until it has ended, or end it: kill ${process.pid}\\.$`,
    ),
  )
  expect(waits).toMatchObject([{ who: expect.stringContaining('dirsyncd sync'), isDaemon: false }])
})

test('Ctrl-C ends the wait', async () => {
  await using temp = await tempDir()
  await using _owned = await acquireDataDir(temp.path, { command: 'dirsyncd sync' })
  const stop = new AbortController()
  const onWait = () => stop.abort(new Error('Interrupted.'))
  const options = { command: 'dirsyncd runs', signal: stop.signal, onWait, onUnread: () => undefined }
  await expect(openControl(configOf(temp.path), silentLog(), options, PATIENT)).rejects.toThrow(
    'Interrupted.',
  )
})
