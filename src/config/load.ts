import { z } from 'zod'
import { optionPath, type Fault } from '../base/yaml/document.ts'
import {
  type Checked,
  type ConfigPlace as Place,
  type FileKind,
  loadFile,
  ofCheckout,
  type RawConfig,
  readRawFile,
} from '../base/yaml/load.ts'
import type { ResolveContext } from '../base/yaml/resolve.ts'
import type { Env } from '../base/secrets/secret.ts'
import { readCaFiles } from './ca-files.ts'
import { checkConfig } from './check.ts'
import type { Config, SourceConfig } from './config.ts'
import { resolveConfig, sourceConfig, type SyncContext } from './resolve.ts'
import { type ParsedConfig, sourceSection } from './schema.ts'

const KIND: FileKind = {
  variable: 'DIRSYNCD_CONFIG',
  usualFiles: [...ofCheckout('dirsyncd.yaml'), '/etc/dirsyncd/dirsyncd.yaml'],
  remedy: 'write one with dirsyncd init, or copy config/example.yaml',
}

/** Where `init` writes without a path, so that the next command finds the file. */
export function usualFile(env: Env): string {
  return env[KIND.variable] || (KIND.usualFiles[0] ?? '')
}

export interface ConfigPlace extends Place {
  readonly sourceProblem?: SourceProblem
}

/**
 * Reads the configuration: `file`, else `$DIRSYNCD_CONFIG`, else the checkout's `config/dirsyncd.yaml`, else
 * `/etc/dirsyncd/dirsyncd.yaml`. Opens no source: `sourceProblem` checks its options. Throws as `loadFile`.
 */
export function loadConfig(from: ConfigPlace): Promise<Config> {
  return loadFile(from, KIND, {
    check: (value, context) => checkAll(value, context, from.sourceProblem),
    resolve: (parsed, context) => resolveConfig(parsed.config, { ...context, caFiles: parsed.caFiles }),
  })
}

/** The content of the file, valid or not. Throws `config-invalid` where it is no YAML. */
export function readRawConfig(from: ConfigPlace): Promise<RawConfig> {
  return readRawFile(from, KIND)
}

interface Parsed {
  readonly config: ParsedConfig
  readonly caFiles: ReadonlyMap<string, string>
}

async function checkAll(
  value: unknown,
  context: ResolveContext,
  problemOf: SourceProblem | undefined,
): Promise<Checked<Parsed>> {
  const { config, faults } = checkConfig(value)
  const authorities = await readCaFiles(value, context.folder)
  const caFiles = authorities.texts
  return {
    config: config && { config, caFiles },
    faults: [...faults, ...authorities.faults, ...sourceFaults(value, { ...context, caFiles }, problemOf)],
  }
}

/** Returns a sentence that begins with the key, or `undefined` when the source accepts its options. */
type SourceProblem = (source: SourceConfig) => string | undefined

const withSources = z.object({
  syncs: z.array(
    z.unknown().transform((sync) => z.object({ source: sourceSection }).safeParse(sync).data?.source),
  ),
})

/** Options that the schema accepts and the source refuses, even when other sections have faults. */
function sourceFaults(raw: unknown, context: SyncContext, problemOf?: SourceProblem): Fault[] {
  const sources = withSources.safeParse(raw).data?.syncs ?? []
  return sources.flatMap((source, index) => {
    const problem = source && problemOf?.(sourceConfig(source, `syncs[${index}]`, context))
    if (problem === undefined) return []
    const [, key = '', message = problem] = /^(\w+(?:\.\w+|\[\d+\])*): (.*)$/s.exec(problem) ?? []
    return [{ path: ['syncs', index, 'source', ...optionPath(key)], message }]
  })
}

export type { Config }
