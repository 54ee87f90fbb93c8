import type { DraftPlace, NewFile } from '../../../operations/init/draft.ts'
import type { EmailTally } from '../../../source/email-tally.ts'
import type { InitSteps } from '../../../operations/init/init.ts'
import { hang } from '../../../base/terminal/wrap.ts'
import type { Answers } from './answers.ts'

export interface InitOptions {
  readonly file?: string
  readonly source?: 'ldap' | 'csv'
  readonly url?: string
  readonly startTls?: boolean
  readonly ca?: string
  readonly trust?: string
  readonly bindDn?: string
  readonly bindPasswordFile?: string
  readonly bindPasswordEnv?: string
  readonly usersBase?: readonly string[]
  readonly usersFilter?: string
  readonly disabled?: 'keep' | 'skip' | 'delete'
  readonly groupsBase?: readonly string[]
  readonly groupsFilter?: string
  readonly nested?: 'direct' | 'flatten'
  readonly groups: boolean
  readonly csvUsers?: string
  readonly csvGroups?: string
  readonly csvMembers?: string
  readonly csvDelimiter?: string
  readonly csvEncoding?: string
  readonly mapMemberGroup?: string
  readonly mapMemberUser?: string
  readonly mapId?: string
  readonly mapEmail?: string
  readonly mapName?: string
  readonly mapEmployeeId?: string
  readonly apiUrl?: string
  readonly apiCa?: string
  readonly organization?: number
  readonly directory?: number
  readonly tokenFile?: string
  readonly tokenEnv?: string
  readonly allowedDomain?: readonly string[]
  readonly badEmails?: 'drop' | 'keep'
  readonly membership?: 'report' | 'write' | 'find-out'
  readonly sync?: string
  readonly schedule?: string
  readonly dataDir?: string
  readonly yes?: boolean
}

export interface Init {
  readonly options: InitOptions
  readonly answers: Answers
  readonly steps: InitSteps
  /** Prints for the operator; prints nothing with `--json`. */
  readonly say: (...lines: readonly string[]) => void
  /** What the operator must know before the end; with `--json` it goes to stderr. */
  readonly tell: (sentence: string) => void
  /** Sentences without names of entries. */
  readonly warnings: string[]
  /** Test entries that are still in the directory, or may appear there; sentences. */
  readonly left: string[]
  /** Certificate fingerprints that the operator has compared, also of a server with several names. */
  readonly compared: Set<string>
  readonly emails: { found: EmailTally | undefined }
  readonly rights: { mayWrite: boolean }
  readonly columns: number | undefined
  readonly file: string
  /** New files beside the configuration, by purpose. */
  readonly files: Map<'ca' | 'password' | 'token', NewFile>
  readonly place: () => DraftPlace
}

export function isAsked({ answers, options }: Init): boolean {
  return answers.hasPerson && options.yes !== true
}

export function warnUnasked(init: Init, what: string): void {
  if (isAsked(init)) return
  const { say, warnings, columns } = init
  say(...hang('  warn  ', what, columns))
  warnings.push(what)
}

const SLOW_MS = 5000

export async function tellSlow<T>({ say }: Init, answer: Promise<T>): Promise<T> {
  const timer = setTimeout(() => say('  It has not answered yet; Ctrl-C ends the waiting …'), SLOW_MS)
  try {
    return await answer
  } finally {
    clearTimeout(timer)
  }
}

export function tellLeft(init: Init, left: readonly string[]): void {
  for (const each of left) init.say(`  ${each}`)
  init.warnings.push(...left)
  init.left.push(...left)
}
