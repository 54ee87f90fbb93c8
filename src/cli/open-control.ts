import type { Control } from '../control/control.ts'
import { DAEMON, type DataDirOwner, describeOwner } from '../store/owner.ts'
import type { Session } from './context.ts'

/**
 * Reaches the daemon, or does its work for this command. Says on standard error whom it waits for, and where that is a
 * command what else can be done: `advice` is a sentence.
 */
export function openControl(session: Session, advice?: (owner: DataDirOwner) => string): Promise<Control> {
  const { compose, config, log, command, signal, stderr } = session
  const onWait = (owner: DataDirOwner) => {
    const more = owner.command === DAEMON || advice === undefined ? '' : ` ${advice(owner)}`
    stderr.write(`Waiting for ${describeOwner(owner)}, which uses the store in ${config.dataDir}.${more}\n`)
  }
  return compose.openControl(config, log, { command, signal, onWait })
}
