import type { ControlOptions } from '../../compose/control.ts'
import type { Control } from '../../operations/control.ts'
import { DirsyncdError } from '../../base/errors.ts'
import type { OwnerInWords } from '../../base/database/owner.ts'
import type { Session } from './context.ts'
import { selectSyncs } from './select-syncs.ts'

/** A sync that was removed from the file stays until the daemon reloads. Throws like `selectSyncs`. */
export async function syncNames(session: Session, name: string | undefined): Promise<readonly string[]> {
  try {
    return selectSyncs(session.config, name).map((sync) => sync.name)
  } catch (error) {
    if (name === undefined) throw error
    const own = await readStores(session, [], async (control) => (await control.configuration?.()) ?? [])
    if (!own.some((sync) => sync.name === name)) throw error
    return [name]
  }
}

/** For a read-only command; `nothing` where the store has no tables yet. */
export async function readStores<T>(
  session: Session,
  nothing: T,
  read: (control: Control) => Promise<T>,
): Promise<T> {
  try {
    await using control = await openControl(session, { tables: 'keep' })
    return await read(control)
  } catch (error) {
    if (error instanceof DirsyncdError && error.code === 'store-empty') return nothing
    throw error
  }
}

interface Wishes {
  /** An alternative to waiting for the other process; one sentence. */
  readonly advice?: (owner: OwnerInWords) => string
  /** `keep` for a command that neither makes runs nor applies changes, `queue` for one that acts on what is there. */
  readonly tables?: ControlOptions['tables']
}

/** Connects to the daemon, or opens the stores in this process. Names the process that it waits for on stderr. */
export function openControl(session: Session, { advice, tables }: Wishes = {}): Promise<Control> {
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
  return compose.openControl(config, log, { command, signal, tables, onWait, onUnread })
}
