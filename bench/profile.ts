import { mkdirSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { basename, join } from 'node:path'

export interface Profile {
  /** Writes `<contender>-<pid>.cpuprofile`, which Chromium's developer tools show. */
  write(): Promise<void>
}

export async function startProfile(directory: string): Promise<Profile> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.setSamplingInterval', { interval: 500 })
  await session.post('Profiler.start')
  return {
    async write() {
      const { profile } = await session.post('Profiler.stop')
      session.disconnect()
      const name = basename(process.argv[1] ?? 'contender', '.ts')
      mkdirSync(directory, { recursive: true })
      writeFileSync(join(directory, `${name}-${process.pid}.cpuprofile`), JSON.stringify(profile))
    },
  }
}
