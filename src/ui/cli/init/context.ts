import type { DraftPlace, EmailTally, InitSteps, NewFile } from '../../../operations/init/init.ts'
import { hang } from '../../../base/terminal/wrap.ts'
import type { Answers } from './answers.ts'

/** The options of `dirsyncd init`. */
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
  /** False with `--no-groups`. */
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

/** What the questions share. */
export interface Init {
  readonly options: InitOptions
  readonly answers: Answers
  readonly steps: InitSteps
  /** Lines for a person; nothing is printed for machines. */
  readonly say: (...lines: readonly string[]) => void
  /** What a person must get to know before the end; for machines it goes to standard error. */
  readonly tell: (sentence: string) => void
  /** What a person should look at, in sentences without names of people. */
  readonly warnings: string[]
  /** What is still in the directory of what was made to find something out, or may come, in sentences. */
  readonly left: string[]
  /** Fingerprints of certificates that a person has compared: of one server by another name, too. */
  readonly compared: Set<string>
  /** Which e-mails the people have; `undefined` before they were read. */
  readonly emails: { found: EmailTally | undefined }
  /** What the token may do, as far as it was found out. */
  readonly rights: { mayWrite: boolean }
  /** How wide the terminal is. */
  readonly columns: number | undefined
  /** Where the configuration is going to be. */
  readonly file: string
  /** The files beside the configuration so far, by what they are for. */
  readonly files: Map<'ca' | 'password' | 'token', NewFile>
  readonly place: () => DraftPlace
}

/** Whether a person answers what has a proposal. */
export function isAsked({ answers, options }: Init): boolean {
  return answers.hasPerson && options.yes !== true
}

/** Says what a person would have been asked. */
export function warnUnasked(init: Init, what: string): void {
  if (isAsked(init)) return
  const { say, warnings, columns } = init
  say(...hang('  warn  ', what, columns))
  warnings.push(what)
}

/** After so many milliseconds a person wonders. */
const SLOW_MS = 5000

/** Says so where the other side lets a person wait. */
export async function tellSlow<T>({ say }: Init, answer: Promise<T>): Promise<T> {
  const timer = setTimeout(() => say('  It has not answered yet; Ctrl-C ends the waiting …'), SLOW_MS)
  try {
    return await answer
  } finally {
    clearTimeout(timer)
  }
}

/** Names what was made to find something out, and is still there. */
export function tellLeft(init: Init, left: readonly string[]): void {
  for (const each of left) init.say(`  ${each}`)
  init.warnings.push(...left)
  init.left.push(...left)
}
