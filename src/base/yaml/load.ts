import { statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DirsyncdError, systemCode } from '../errors.ts'
import type { Env } from '../secrets/secret.ts'
import { optionName, optionPath, readYaml, type Fault, type Position } from './document.ts'
import type { ResolveContext } from './resolve.ts'
import { type Trust, whyUntrusted } from './trust.ts'

/** Nothing else reads `process.env`. */
export function environment(): Env {
  return process.env
}

export interface FileKind {
  readonly variable: string
  /** The first that exists; never in the current folder, because a configuration can run programs. */
  readonly usualFiles: readonly string[]
  /** How to get a file, such as `copy config/example.yaml`. */
  readonly remedy: string
}

/** The file in `config/` of a checkout. Only a checkout runs TypeScript; a build has no configuration beside it. */
export function ofCheckout(name: string): readonly string[] {
  if (!import.meta.url.endsWith('.ts')) return []
  return [fileURLToPath(new URL(`../../../config/${name}`, import.meta.url))]
}

export interface ConfigPlace {
  readonly file?: string
  readonly env: Env
  /** Instead of those of the program. */
  readonly usualFiles?: readonly string[]
}

export interface RawConfig {
  /** Absolute. */
  readonly file: string
  readonly value: unknown
}

export interface Checked<Parsed> {
  /** `undefined` where there are faults. */
  readonly config: Parsed | undefined
  readonly faults: readonly Fault[]
}

export interface Reading<Parsed, Config> {
  readonly check: (value: unknown, context: ResolveContext) => Promise<Checked<Parsed>>
  readonly resolve: (parsed: Parsed, context: ResolveContext) => Config
}

/**
 * Reads, checks, resolves and freezes the named file, else that of the variable, else the first usual one. Throws
 * `config-invalid` with one line for each fault: `file:line:column: option: sentence`. Secrets are not read here.
 */
export async function loadFile<Parsed, Config>(
  from: ConfigPlace,
  kind: FileKind,
  { check, resolve: resolveValues }: Reading<Parsed, Config>,
): Promise<Config> {
  const { shownFile, trust } = placeOf(from, kind)
  const { file, yaml } = await readFileOf(shownFile, trust, kind)
  const context: ResolveContext = { file, folder: dirname(file), env: from.env, trust, programs: new Map() }
  const { config: parsed, faults } = await check(yaml.value, context)
  if (parsed === undefined || faults.length > 0) throw invalid(describeFaults(shownFile, faults, yaml.locate))
  const config = resolveValues(parsed, context)
  const untrusted = programFaults(context)
  if (untrusted.length > 0) throw invalid(describeFaults(shownFile, untrusted, yaml.locate))
  return deepFreeze(config)
}

/** Unchecked. Throws `config-invalid` where the file is no YAML. */
export async function readRawFile(from: ConfigPlace, kind: FileKind): Promise<RawConfig> {
  const { shownFile, trust } = placeOf(from, kind)
  const { file, yaml } = await readFileOf(shownFile, trust, kind)
  return { file, value: yaml.value }
}

async function readFileOf(shownFile: string, trust: Trust, kind: FileKind) {
  const why = whyUntrusted(shownFile, trust)
  if (why !== undefined)
    throw new DirsyncdError('config-invalid', `The configuration file ${shownFile} must not be used: ${why}.`)
  const yaml = readYaml(await readText(shownFile, kind))
  if ('faults' in yaml) {
    throw invalid(yaml.faults.map(({ message, ...position }) => line(shownFile, position, message)))
  }
  return { file: resolve(shownFile), yaml }
}

interface Place {
  readonly shownFile: string
  readonly trust: Trust
}

function placeOf({ file, env, usualFiles }: ConfigPlace, kind: FileKind): Place {
  const named = file ?? env[kind.variable]
  if (named) return { shownFile: named, trust: 'named' }
  const files = usualFiles ?? kind.usualFiles
  const usual = files.find(mayExist)
  if (usual !== undefined) return { shownFile: usual, trust: 'searched' }
  throw noFile(files.join(' or '), files.length === 1 ? 'it' : 'one of them', kind)
}

/** A file that cannot be reached is not skipped: reading it gives the reason. */
function mayExist(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined
  } catch {
    return true
  }
}

function noFile(which: string, place: string, { remedy, variable }: FileKind): DirsyncdError {
  return new DirsyncdError(
    'config-invalid',
    `There is no configuration file ${which}; ${remedy} to ${place} and edit it, or name another file with --config or ${variable}.`,
  )
}

async function readText(file: string, kind: FileKind): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ENOENT') throw noFile(file, 'it', kind)
    const why = code === 'EACCES' ? 'this user may not read it' : code === 'EISDIR' ? 'it is a folder' : code
    throw new DirsyncdError('config-invalid', `The configuration file ${file} cannot be read: ${why}.`)
  }
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
