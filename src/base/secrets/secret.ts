import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { DirsyncdError, whyUnreadable } from '../errors.ts'
import type { SecretSource } from '../yaml/values.ts'

export type Env = Readonly<Record<string, string | undefined>>

export interface SecretReader {
  /**
   * Without line breaks at its end. A changed file is read again; a command's answer is kept until `fresh` asks for a
   * new one. Throws `secret-unavailable`, never with the value.
   */
  readonly read: (fresh?: boolean) => Promise<string>
  /** The place of the secret: `file /run/secrets/ldap`. */
  describe(): string
}

export interface SecretContext {
  readonly env: Env
  /** Relative paths start in this folder, and commands run in it. */
  readonly folder: string
  /** For messages: `syncs[0].directory.token`. */
  readonly option: string
  /** Of a command, in milliseconds. */
  readonly timeoutMs?: number
  readonly programProblem?: () => string | undefined
}

const MAX_BYTES = 64 * 1024
const COMMAND_TIMEOUT_MS = 15_000
/** For the remaining output of an ended command. */
const LAST_WORDS_MS = 500

export function createSecretReader(source: SecretSource, context: SecretContext): SecretReader {
  const reader = readerOf(source, context)
  return {
    read: (fresh) => {
      const problem = misplacedSecret(source, context)
      return problem === undefined ? reader.read(fresh) : Promise.reject(unavailable(context, problem))
    },
    describe: () =>
      misplacedSecret(source, context) === undefined ? reader.describe() : Object.keys(source).join(),
  }
}

/**
 * Detects a secret in the place of its variable or its file; no message may repeat it. Variables have capital letters
 * only, and most files are named with a folder.
 */
export function misplacedSecret(
  source: SecretSource,
  { env, folder }: Pick<SecretContext, 'env' | 'folder'>,
): string | undefined {
  if ('env' in source) {
    const isName = env[source.env] !== undefined || !/[a-z]/.test(source.env)
    return isName ? undefined : misplaced('environment variable')
  }
  if (!('file' in source) || /[/\\]/.test(source.file)) return undefined
  return existsSync(resolve(folder, source.file)) ? undefined : misplaced('file')
}

function misplaced(what: string): string {
  return `it takes the place of the secret, not the secret itself, and there is no ${what} of the name given`
}

function readerOf(source: SecretSource, context: SecretContext): SecretReader {
  if ('env' in source) return envReader(source.env, context)
  if ('file' in source) return fileReader(resolve(context.folder, source.file), context)
  if ('credential' in source) return credentialReader(source.credential, context)
  return commandReader(source.command, context)
}

function envReader(name: string, context: SecretContext): SecretReader {
  async function read(): Promise<string> {
    const value = context.env[name]
    if (value === undefined) throw unavailable(context, `the environment variable ${name} is not set`)
    return usable(value, context, `the environment variable ${name}`)
  }
  return { read, describe: () => `env ${name}` }
}

/** As systemd: the unit's credentials, and else the places where `LoadCredential=NAME` looks. */
function credentialReader(name: string, context: SecretContext): SecretReader {
  const handed = context.env['CREDENTIALS_DIRECTORY']
  const path = join(handed || '/etc/credstore', name)
  const what = handed
    ? `the file ${path}, which systemd makes by LoadCredential=${name},`
    : `CREDENTIALS_DIRECTORY is not set, and the file ${path}`
  return { ...fileReader(path, context, what), describe: () => `credential ${name}` }
}

function fileReader(path: string, context: SecretContext, what = `the file ${path}`): SecretReader {
  let kept: { readonly version: string; readonly value: string } | undefined

  async function read(fresh = false): Promise<string> {
    try {
      const version = await versionOf(path, context, what)
      if (!fresh && kept?.version === version) return kept.value
      const value = usable(await readFile(path, 'utf8'), context, what)
      kept = { version, value }
      return value
    } catch (error) {
      if (error instanceof DirsyncdError) throw error
      throw unavailable(context, `${what} ${whyUnreadable(error)}`)
    }
  }
  return { read, describe: () => `file ${path}` }
}

/** Changes with the file, even when another file replaces it within one tick of the clock. */
async function versionOf(path: string, context: SecretContext, what: string): Promise<string> {
  const { mtimeNs, size, ino } = await stat(path, { bigint: true })
  if (size > MAX_BYTES) throw unavailable(context, `${what} is larger than ${MAX_BYTES / 1024} KiB`)
  return `${mtimeNs}/${size}/${ino}`
}

function commandReader(argv: readonly string[], context: SecretContext): SecretReader {
  let kept: Promise<string> | undefined

  function read(fresh = false): Promise<string> {
    if (!fresh && kept !== undefined) return kept
    const answer = runCommand(argv, context)
    kept = answer
    // A failure is not kept: the next reader asks again.
    answer.catch(() => {
      if (kept === answer) kept = undefined
    })
    return answer
  }
  return { read, describe: () => `command ${basename(argv[0] ?? '')}` }
}

function runCommand(argv: readonly string[], context: SecretContext): Promise<string> {
  const problem = context.programProblem?.()
  if (problem !== undefined) return Promise.reject(unavailable(context, problem))
  const [program = '', ...args] = argv
  const timeout = context.timeoutMs ?? COMMAND_TIMEOUT_MS
  const options = {
    cwd: context.folder,
    env: { ...context.env },
    timeout,
    killSignal: 'SIGKILL' as const,
    maxBuffer: MAX_BYTES,
    encoding: 'utf8' as const,
  }
  return new Promise((fulfil, reject) => {
    const child = execFile(program, args, options, (error, stdout) => {
      // The command's output, also on stderr, may hold the secret, so no message quotes it.
      if (error !== null) {
        const why = `the command ${program} ${whyNoAnswer(error, timeout)}`
        reject(unavailable(context, why, isMissing(error) ? undefined : MAY_PASS))
        return
      }
      try {
        fulfil(usable(stdout, context, `the answer of the command ${program}`))
      } catch (empty) {
        reject(empty)
      }
    })
    // A process that the command left behind, such as an agent, may keep the output open.
    child.on('exit', () => {
      setTimeout(() => setImmediate(close), LAST_WORDS_MS).unref()
    })
    // Reads what has arrived first, also after a long block of the process.
    function close(): void {
      child.stdout?.destroy()
      child.stderr?.destroy()
    }
    child.stdin?.on('error', () => undefined)
    child.stdin?.end()
  })
}

function usable(value: string, context: SecretContext, where: string): string {
  const trimmed = value.replace(/[\r\n]+$/, '')
  if (trimmed === '') throw unavailable(context, `${where} is empty`)
  return trimmed
}

function unavailable(context: SecretContext, why: string, options?: { exitCode: number }): DirsyncdError {
  return new DirsyncdError(
    'secret-unavailable',
    `The secret of ${context.option} cannot be read: ${why}.`,
    options,
  )
}

/** The failure may be temporary, so a service manager should start the daemon again. */
const MAY_PASS = { exitCode: 1 }

type CommandError = Error & { readonly code?: unknown; readonly killed?: boolean }

function isMissing({ code }: CommandError): boolean {
  return code === 'ENOENT' || code === 'EACCES'
}

function whyNoAnswer(error: CommandError, timeoutMs: number): string {
  if (error.code === 'ENOENT') return 'was not found'
  if (error.code === 'EACCES') return 'may not be run by this user'
  if (error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') {
    return `printed more than ${MAX_BYTES / 1024} KiB`
  }
  if (error.killed === true) return `gave no answer within ${timeoutMs / 1000} s`
  return typeof error.code === 'number' ? `ended with exit code ${error.code}` : 'was killed'
}
