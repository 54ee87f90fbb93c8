import { statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { DirsyncdError, systemCode } from '../errors.ts'
import { readCaFiles } from './ca-files.ts'
import { checkConfig } from './check.ts'
import type { Config, SourceConfig } from './config.ts'
import { optionName, optionPath, readYaml, type Fault, type Position } from './document.ts'
import { resolveConfig, type ResolveContext, sourceConfig } from './resolve.ts'
import { sourceSection } from './schema.ts'
import type { Env } from './secret.ts'
import { type Trust, whyUntrusted } from './trust.ts'

/** Only a checkout runs TypeScript. What is built or installed has no configuration beside it. */
const OF_CHECKOUT = import.meta.url.endsWith('.ts')
  ? [fileURLToPath(new URL('../../config/dirsyncd.yaml', import.meta.url))]
  : []

/** Where the configuration is searched for, never in the current folder: it can run programs. */
const USUAL_FILES: readonly string[] = [...OF_CHECKOUT, '/etc/dirsyncd/dirsyncd.yaml']

/** The environment of the process; nothing else reads `process.env`. */
export function environment(): Env {
  return process.env
}

/** Where a new configuration goes that nobody names, so that the next command finds it. */
export function usualFile(env: Env): string {
  return env['DIRSYNCD_CONFIG'] || (USUAL_FILES[0] ?? '')
}

/** Where the configuration is, and what checks the sources. */
export interface ConfigPlace {
  readonly file?: string
  readonly env: Env
  /** Where it is without `file` and `$DIRSYNCD_CONFIG`: the first that exists. A test has other places. */
  readonly usualFiles?: readonly string[]
  readonly sourceProblem?: SourceProblem
}

export interface RawConfig {
  /** Absolute. */
  readonly file: string
  readonly value: unknown
}

/**
 * Reads, checks, resolves and freezes the configuration: `file`, else `$DIRSYNCD_CONFIG`, else the checkout's
 * `config/dirsyncd.yaml`, else `/etc/dirsyncd/dirsyncd.yaml`. Throws `config-invalid` with one line for each fault: `file:line:column: option: sentence`.
 * Secrets are not read here, and no source is opened: `sourceProblem` says what is wrong with its options.
 */
export async function loadConfig(from: ConfigPlace): Promise<Config> {
  const { shownFile, trust } = placeOf(from)
  const { file, yaml } = await readFileOf(shownFile, trust)
  const folder = dirname(file)
  const checked = checkConfig(yaml.value)
  const authorities = await readCaFiles(yaml.value, folder)
  const context = {
    file,
    folder,
    env: from.env,
    trust,
    caFiles: authorities.texts,
    programs: new Map<string, () => string | undefined>(),
  }
  const faults = [
    ...checked.faults,
    ...authorities.faults,
    ...sourceFaults(yaml.value, context, from.sourceProblem),
  ]
  if (checked.config === undefined || faults.length > 0)
    throw invalid(describeFaults(shownFile, faults, yaml.locate))
  const config = resolveConfig(checked.config, context)
  const untrusted = programFaults(context)
  if (untrusted.length > 0) throw invalid(describeFaults(shownFile, untrusted, yaml.locate))
  return deepFreeze(config)
}

/** What the configuration file says, right or wrong. Throws `config-invalid` where it is no YAML. */
export async function readRawConfig(from: ConfigPlace): Promise<RawConfig> {
  const { shownFile, trust } = placeOf(from)
  const { file, yaml } = await readFileOf(shownFile, trust)
  return { file, value: yaml.value }
}

async function readFileOf(shownFile: string, trust: Trust) {
  const why = whyUntrusted(shownFile, trust)
  if (why !== undefined)
    throw new DirsyncdError('config-invalid', `The configuration file ${shownFile} must not be used: ${why}.`)
  const yaml = readYaml(await readText(shownFile))
  if ('faults' in yaml) {
    throw invalid(yaml.faults.map(({ message, ...position }) => line(shownFile, position, message)))
  }
  return { file: resolve(shownFile), yaml }
}

interface Place {
  readonly shownFile: string
  readonly trust: Trust
}

function placeOf({ file, env, usualFiles = USUAL_FILES }: ConfigPlace): Place {
  const named = file ?? env['DIRSYNCD_CONFIG']
  if (named) return { shownFile: named, trust: 'named' }
  const usual = usualFiles.find(mayExist)
  if (usual !== undefined) return { shownFile: usual, trust: 'searched' }
  throw noFile(
    `${usualFiles.join(' or ')}; write one with dirsyncd init, or copy config/example.yaml to one of them`,
  )
}

/** A file that cannot be reached is not passed over: reading it says why. */
function mayExist(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined
  } catch {
    return true
  }
}

function noFile(which: string): DirsyncdError {
  return new DirsyncdError(
    'config-invalid',
    `There is no configuration file ${which} and edit it, or name another file with --config or DIRSYNCD_CONFIG.`,
  )
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ENOENT')
      throw noFile(`${file}; write one with dirsyncd init, or copy config/example.yaml to it`)
    const why = code === 'EACCES' ? 'this user may not read it' : code === 'EISDIR' ? 'it is a folder' : code
    throw new DirsyncdError('config-invalid', `The configuration file ${file} cannot be read: ${why}.`)
  }
}

/** Returns a sentence that begins with the key, or `undefined` when the source accepts its options. */
type SourceProblem = (source: SourceConfig) => string | undefined

const withSources = z.object({
  syncs: z.array(
    z.unknown().transform((sync) => z.object({ source: sourceSection }).safeParse(sync).data?.source),
  ),
})

/** What each source refuses in options that the schema accepts, even when other sections have faults. */
function sourceFaults(raw: unknown, context: ResolveContext, problemOf?: SourceProblem): Fault[] {
  const sources = withSources.safeParse(raw).data?.syncs ?? []
  return sources.flatMap((source, index) => {
    const problem = source && problemOf?.(sourceConfig(source, `syncs[${index}]`, context))
    if (problem === undefined) return []
    const [, key = '', message = problem] = /^(\w+(?:\.\w+|\[\d+\])*): (.*)$/s.exec(problem) ?? []
    return [{ path: ['syncs', index, 'source', ...optionPath(key)], message }]
  })
}

function programFaults({ programs }: ResolveContext): Fault[] {
  return [...programs].flatMap(([option, problem]) => {
    const message = problem()
    return message === undefined ? [] : [{ path: optionPath(option), message }]
  })
}

function describeFaults(
  file: string,
  faults: readonly Fault[],
  locate: (path: Fault['path']) => Position,
): string[] {
  return faults
    .map((fault) => ({ fault, position: locate(fault.path) }))
    .toSorted((a, b) => a.position.line - b.position.line || a.position.column - b.position.column)
    .map(({ fault, position }) => {
      const name = optionName(fault.path)
      return line(
        file,
        position,
        name === '' ? `the configuration ${fault.message}` : `${name}: ${fault.message}`,
      )
    })
}

function line(file: string, position: Position, message: string): string {
  return `${file}:${position.line}:${position.column}: ${message}`
}

function invalid(lines: readonly string[]): DirsyncdError {
  return new DirsyncdError('config-invalid', lines.join('\n'))
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const part of Object.values(value)) deepFreeze(part)
  return Object.freeze(value)
}

export type { Config, Env }
