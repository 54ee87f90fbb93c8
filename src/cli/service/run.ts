import type { Config } from '../../config/load.ts'
import { DirsyncdError } from '../../errors.ts'
import type { Session } from '../context.ts'
import { announce } from '../start.ts'

/** Runs the service until a signal. */
export async function runService(session: Session, faults: string | undefined): Promise<number> {
  const { compose, log, signal } = session
  await compose.runService(withFaults(session.config, faults), log, signal, announce(session), session.ready)
  return 0
}

function withFaults(config: Config, faults: string | undefined): Config {
  if (config.service === undefined) {
    throw new DirsyncdError(
      'config-invalid',
      `${config.file} has no section service; add one, as config/example.yaml shows.`,
    )
  }
  return faults === undefined ? config : { ...config, service: { ...config.service, faults } }
}
