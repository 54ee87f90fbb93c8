import { dirname } from 'node:path'
import { readCaFiles } from '../../config/ca-files.ts'
import { checkConfig } from '../../config/check.ts'
import type { SyncConfig } from '../../config/config.ts'
import { optionName } from '../../base/yaml/document.ts'
import { resolveConfig } from '../../config/resolve.ts'
import type { RawSync } from '../../config/schema.ts'
import type { Env, SecretReader } from '../../base/secrets/secret.ts'
import type { SecretSource } from '../../base/yaml/values.ts'
import { DirsyncdError } from '../../base/errors.ts'
import { trustThisMachine } from '../../config/authorities.ts'

export type { RawSync }
export type RawSource = RawSync['source']
export type RawLdap = Extract<RawSource, { readonly type: 'ldap' }>
export type RawCsv = Extract<RawSource, { readonly type: 'csv' }>
export type RawDirectory = RawSync['directory']

/** How to reach an LDAP server, before its bases are known. */
export type RawServer = Pick<RawLdap, 'type' | 'url' | 'tls' | 'bind'>

/** Written beside the configuration at the end, and in memory until then. */
export interface NewFile {
  /** As the configuration names it: relative to its folder. */
  readonly path: string
  readonly text: string
}

export interface DraftPlace {
  /** Of the configuration; absolute. */
  readonly file: string
  readonly env: Env
  readonly files: readonly NewFile[]
}

/** Throws `config-invalid` with one sentence for each fault, which begins with the option. */
export async function resolveDraft(sync: RawSync, place: DraftPlace): Promise<SyncConfig> {
  const { file, env, files } = place
  const folder = dirname(file)
  const { config, faults } = checkConfig({ syncs: [sync] })
  const written = await readCaFiles({ syncs: [withoutNew(sync, files)] }, folder)
  const all = [...faults, ...written.faults]
  if (config === undefined || all.length > 0) {
    const lines = all.map(
      ({ path, message }) => `${optionName(path).replace(/^syncs\[0\]\./, '')}: ${message}`,
    )
    throw new DirsyncdError('config-invalid', lines.join('\n'))
  }
  const caFiles = new Map([...written.texts, ...files.map(({ path, text }) => [path, text] as const)])
  const context = { file, folder, env, caFiles, trust: 'named', programs: new Map() } as const
  const [resolved] = resolveConfig(config, context).syncs
  if (resolved === undefined) throw new Error('the draft has a sync')
  trustThisMachine([resolved])
  return withSecrets(resolved, sync, files)
}

/** Without a CA that is not on disk yet. */
function withoutNew(sync: RawSync, files: readonly NewFile[]): unknown {
  const { source } = sync
  const ca = source.type === 'ldap' ? source.tls?.ca : undefined
  if (source.type !== 'ldap' || !files.some(({ path }) => path === ca)) return sync
  const { ca: _, ...tls } = source.tls ?? {}
  return { ...sync, source: { ...source, tls } }
}

function withSecrets(
  config: SyncConfig,
  { source, directory }: RawSync,
  files: readonly NewFile[],
): SyncConfig {
  const token = inMemory(directory.token, files) ?? config.directory.token
  const bind = source.type === 'ldap' && source.bind?.external !== true ? source.bind : undefined
  const password = bind && inMemory(bind.password, files)
  const { source: resolved } = config
  if (password === undefined || resolved.type !== 'ldap' || resolved.options.bind?.external === true)
    return { ...config, directory: { ...config.directory, token } }
  const withPassword = { dn: bind?.dn ?? '', ...resolved.options.bind, password: () => password.read() }
  return {
    ...config,
    source: { ...resolved, options: { ...resolved.options, bind: withPassword } },
    directory: { ...config.directory, token },
  }
}

function inMemory(secret: SecretSource, files: readonly NewFile[]): SecretReader | undefined {
  const file = 'file' in secret ? files.find(({ path }) => path === secret.file) : undefined
  if (file === undefined) return undefined
  return { read: () => Promise.resolve(file.text.replace(/\n$/, '')), describe: () => `file ${file.path}` }
}
