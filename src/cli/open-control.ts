import type { Control } from '../control/control.ts'
import type { OwnerInWords } from '../store/owner.ts'
import type { Session } from './context.ts'

/**
 * Reaches the daemon, or does its work for this command. Says on standard error whom it waits for, and where that is a
 * command what else can be done: `advice` is a sentence.
 */
export function openControl(session: Session, advice?: (owner: OwnerInWords) => string): Promise<Control> {
  const { compose, config, log, command, signal, stderr } = session
  const onWait = (owner: OwnerInWords) => {
    const more = owner.isDaemon || advice === undefined ? '' : ` ${advice(owner)}`
    stderr.write(`Waiting for ${owner.who}, which uses the store in ${config.dataDir}.${more}\n`)
  }
  const onUnread = (changes: readonly string[]) =>
    stderr.write(
      `The daemon has not read what was changed in ${config.file}: ${changes.join('; ')}. ` +
        'dirsyncd reload has it read that; until then it works as before.\n',
    )
  return compose.openControl(config, log, { command, signal, onWait, onUnread })
}
