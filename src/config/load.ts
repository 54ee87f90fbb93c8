import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { z } from 'zod'
import { DirsyncdError, systemCode } from '../errors.ts'
import { checkConfig } from './check.ts'
import type { Config } from './config.ts'
import { optionName, optionPath, readYaml, type Fault, type Position } from './document.ts'
import { resolveConfig } from './resolve.ts'
import type { Env } from './secret.ts'

const DEFAULT_FILE = 'config/dirsyncd.yaml'

/** The environment of the process; nothing else reads it. */
export function environment(): Env {
  return process.env
}

/**
 * Reads, checks, resolves and freezes the configuration: `file`, else `$DIRSYNCD_CONFIG`, else
 * `config/dirsyncd.yaml`. Throws `config-invalid` with every fault, one on a line: `file:line:column: option: sentence`.
 * Secrets are not read here.
 */
export async function loadConfig(from: { readonly file?: string; readonly env: Env }): Promise<Config> {
  const shown = from.file ?? (from.env['DIRSYNCD_CONFIG'] || DEFAULT_FILE)
  const yaml = readYaml(await readText(shown))
  if ('faults' in yaml) {
    throw invalid(yaml.faults.map(({ message, ...position }) => line(shown, position, message)))
  }
  const file = resolve(shown)
  const folder = dirname(file)
  const checked = checkConfig(yaml.value)
  const authorities = await readCaFiles(yaml.value, folder)
  const faults = [...checked.faults, ...authorities.faults]
  if (checked.config === undefined || faults.length > 0)
    throw invalid(describeFaults(shown, faults, yaml.locate))
  const locate = (option: string) => place(shown, yaml.locate(optionPath(option)))
  const context = { file, folder, locate, env: from.env, caFiles: authorities.texts }
  return deepFreeze(resolveConfig(checked.config, context))
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ENOENT') {
      throw new DirsyncdError(
        'config-invalid',
        `There is no configuration file ${file}; copy config/example.yaml to it and edit it, or name another file with ` +
          '--config or DIRSYNCD_CONFIG.',
      )
    }
    const why = code === 'EACCES' ? 'this user may not read it' : code === 'EISDIR' ? 'it is a folder' : code
    throw new DirsyncdError('config-invalid', `The configuration file ${file} cannot be read: ${why}.`)
  }
}

const caFile = z.object({ source: z.object({ tls: z.object({ ca: z.string().min(1) }) }) })

/** The CA file of every sync that names one, whatever else is wrong. */
const withCaFiles = z.object({
  syncs: z.array(z.unknown().transform((sync) => caFile.safeParse(sync).data?.source.tls.ca)),
})

interface Authorities {
  readonly texts: ReadonlyMap<string, string>
  readonly faults: readonly Fault[]
}

/** Reads the CA file of every LDAP source that names one: a missing CA is an error, never a connection without it. */
async function readCaFiles(raw: unknown, folder: string): Promise<Authorities> {
  const texts = new Map<string, string>()
  const faults: Fault[] = []
  const { data } = withCaFiles.safeParse(raw)
  for (const [index, ca] of (data?.syncs ?? []).entries()) {
    if (ca === undefined) continue
    const file = resolve(folder, ca)
    try {
      const text = await readFile(file, 'utf8')
      checkCertificate(text)
      texts.set(ca, text)
    } catch (error) {
      faults.push({ path: ['syncs', index, 'source', 'tls', 'ca'], message: whyNoCa(error, file) })
    }
  }
  return { texts, faults }
}

/** Throws where the first certificate is none; every other one is read by TLS itself. */
function checkCertificate(text: string): X509Certificate {
  return new X509Certificate(text)
}

function whyNoCa(error: unknown, file: string): string {
  const code = systemCode(error)
  if (code === 'ENOENT')
    return `the CA file ${file} does not exist; put the PEM file of the server's CA there`
  if (code === 'EACCES') return `the CA file ${file} may not be read by this user`
  if (code === 'EISDIR') return `the CA file ${file} is a folder`
  return `the CA file ${file} holds no certificate in PEM form`
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
  return `${place(file, position)}: ${message}`
}

function place(file: string, { line: row, column }: Position): string {
  return `${file}:${row}:${column}`
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
