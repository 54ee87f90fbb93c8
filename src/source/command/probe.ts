import { access, constants, stat } from 'node:fs/promises'
import { delimiter, resolve } from 'node:path'
import type { ProbeLine } from '../source.ts'
import type { CommandSourceOptions } from './options.ts'
import { commandError } from './program.ts'
import { digits } from '../../base/wording.ts'

/** Throws `source-unreachable` when the program is missing. */
export async function probe(options: CommandSourceOptions): Promise<ProbeLine[]> {
  const environment = options.environment()
  const path = await findProgram(options, environment['PATH'] ?? '')
  const [, ...args] = options.command
  const argumentCount =
    args.length === 0 ? 'without arguments' : `with ${args.length} argument${args.length === 1 ? '' : 's'}`
  const names = Object.keys(environment).toSorted().join(', ')
  return [
    { label: 'command', detail: `${path} ${argumentCount}, in ${options.folder}`, level: 'ok' },
    { label: 'environment', detail: names === '' ? 'empty' : names, level: 'info' },
    {
      label: 'limits',
      detail: [
        `${digits(options.timeoutMs / 1000)} s`,
        `${digits(options.maxEntries)} entries`,
        `${digits(Math.ceil(options.maxOutput / MEBIBYTE))} MiB`,
      ].join(', '),
      level: 'info',
    },
  ]
}

const MEBIBYTE = 1024 ** 2

async function findProgram(options: CommandSourceOptions, path: string): Promise<string> {
  const [program = ''] = options.command
  const candidates = program.includes('/')
    ? [resolve(options.folder, program)]
    : path.split(delimiter).map((folder) => resolve(options.folder, folder, program))
  let notExecutable: string | undefined
  for (const candidate of candidates) {
    const found = await stat(candidate).catch(() => undefined)
    if (found === undefined || !found.isFile()) continue
    notExecutable ??= candidate
    if (await executable(candidate)) return candidate
  }
  const why =
    notExecutable === undefined
      ? 'it was not found; give its full path'
      : `${notExecutable} is not executable`
  throw commandError(options, why, 'source-unreachable')
}

async function executable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}
