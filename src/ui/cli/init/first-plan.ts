import type { RawConfiguration } from '../../../operations/init/yaml.ts'
import type { Stage } from '../../../operations/init/stage.ts'
import type { Config } from '../../../config/config.ts'
import type { RunView } from '../../../operations/control.ts'
import { amount, digits } from '../../../base/wording.ts'
import { DirsyncdError } from '../../../base/errors.ts'
import { printable } from '../../../base/printable.ts'
import type { BareSession, Session } from '../context.ts'
import { endOfRun } from '../follow.ts'
import { openControl } from '../open-control.ts'
import type { Init } from './context.ts'

export interface Planned {
  readonly stage: Stage
  readonly plan: RunView
}

/** Stages the configuration and plans with it, in a store that is removed with the stage. Throws where that fails. */
export async function planFirst(
  session: BareSession,
  { steps, place, say }: Init,
  configuration: RawConfiguration,
): Promise<Planned> {
  await using stack = new AsyncDisposableStack()
  const { stage, config } = await steps.stage(configuration, place())
  stack.use(stage)
  say('', 'Making a first plan, which changes nothing …')
  // The preview has shown the warnings.
  const log = session.log.child({}, { level: 'error' })
  const plan = await planOf({ ...session, log, config, readAgain: () => Promise.resolve(config) }, config)
  if (plan.error !== null)
    throw new DirsyncdError('directory-unexpected', `No plan could be made: ${plan.error}`)
  stack.move()
  return { stage, plan }
}

/** Enough changes to see whether most are of one kind. */
const LOOKED_AT = 2000
const FEW = 20

/** Names in another format cause many renames. A plan may list other changes first, so this is not always noticed. */
export function renderRenames({ changes }: RunView): string[] {
  const updates = changes.flatMap(({ change }) => (change.op === 'update-user' ? [change] : []))
  const renames = updates.filter(({ want }) => Object.keys(want).join() === 'name')
  const [first] = renames
  if (first === undefined || updates.length < FEW || renames.length * 2 < updates.length) return []
  const example = `"${printable(first.have.name ?? '')}" to "${printable(first.want.name ?? '')}"`
  return [
    `  names      ${digits(renames.length)} of ${amount(updates.length, 'update')} change nothing but the name, such as ${example}; ` +
      'another answer for the full name (source.users.map.name) may leave them as they are',
  ]
}

/** A plan has member changes only where members are written. */
export function renderMembers({ counts }: RunView): string[] {
  const groups = counts?.notices['membership-differs'] ?? 0
  if (groups === 0) return []
  return [
    `  members    those of ${amount(groups, 'group')} differ; they are shown and not written, unless directory.membership is write`,
  ]
}

/** Asked about before the plan counts them. */
export function renderLeftOut({ counts }: RunView): string[] {
  const people = counts?.notices['email-not-allowed'] ?? 0
  if (people === 0) return []
  const are =
    people === 1
      ? '1 person is left out, because the'
      : `${digits(people)} people are left out, because their`
  return [`  e-mails    ${are} e-mail is no address in an allowed domain`]
}

async function planOf(session: Session, { syncs }: Config): Promise<RunView> {
  await using control = await openControl(session)
  const [sync] = syncs
  const run = await control.requestRun({ sync: sync?.name ?? '', mode: 'plan' })
  const { read } = await endOfRun(session, control, run)
  return await read(LOOKED_AT)
}
