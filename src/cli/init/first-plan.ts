import type { RawConfiguration, Stage } from '../../compose/init.ts'
import type { Config } from '../../config/config.ts'
import type { RunView } from '../../control/control.ts'
import { DirsyncdError } from '../../errors.ts'
import type { BareSession, Session } from '../context.ts'
import { endOfRun } from '../follow.ts'
import { openControl } from '../open-control.ts'
import type { Init } from './context.ts'

export interface Planned {
  readonly stage: Stage
  readonly plan: RunView
}

/**
 * Writes the configuration into a stage and makes a plan with it, in a store that is removed with the stage. Throws where
 * no plan could be made.
 */
export async function planFirst(
  session: BareSession,
  { steps, place, say }: Init,
  configuration: RawConfiguration,
): Promise<Planned> {
  await using stack = new AsyncDisposableStack()
  const { stage, config } = await steps.stage(configuration, place())
  stack.use(stage)
  say('', 'Making a first plan, which changes nothing …')
  // The preview has shown what would be warned of.
  const log = session.log.child({}, { level: 'error' })
  const plan = await planOf({ ...session, log, config, readAgain: () => Promise.resolve(config) }, config)
  if (plan.error !== null)
    throw new DirsyncdError('directory-unexpected', `No plan could be made: ${plan.error}`)
  stack.move()
  return { stage, plan }
}

async function planOf(session: Session, { syncs }: Config): Promise<RunView> {
  await using control = await openControl(session)
  const [sync] = syncs
  const run = await control.requestRun({ sync: sync?.name ?? '', mode: 'plan' })
  const { read } = await endOfRun(session, control, run)
  return await read(0)
}
