import type { StoreConfig } from '../database/store-config.ts'
import { createSecretReader, type Env, type SecretReader } from '../secrets/secret.ts'
import { type Trust, whyUntrustedProgram } from './trust.ts'
import { type Address, parseAddress, type SecretSource } from './values.ts'

export interface ResolveContext {
  /** Absolute. */
  readonly file: string
  readonly folder: string
  readonly env: Env
  readonly trust: Trust
  /** Checks of the programs, by option; filled while options are resolved. */
  readonly programs: Map<string, () => string | undefined>
}

export function storeConfig(
  store: string,
  password: SecretSource | undefined,
  option: string,
  context: ResolveContext,
): StoreConfig {
  if (store === 'embedded') return { kind: 'embedded' }
  return { kind: 'postgres', url: store, password: optionalReader(password, option, context) }
}

export function resolveRateLimit(
  limit: { readonly requests: number; readonly per: number } | null | undefined,
): { readonly requests: number; readonly perMs: number } | undefined {
  return limit === null || limit === undefined ? undefined : { requests: limit.requests, perMs: limit.per }
}

export function toAddress(address: string): Address {
  // The schema has refused what does not parse.
  return parseAddress(address) ?? { host: '127.0.0.1', port: 0 }
}

export function reader(source: SecretSource, option: string, context: ResolveContext): SecretReader {
  const { env, folder } = context
  const problem = 'command' in source ? programProblem(source.command, option, context) : undefined
  return createSecretReader(source, { env, folder, option, ...(problem && { programProblem: problem }) })
}

/** Checked when the configuration is read, and again each time before the program runs. */
export function programProblem(
  [program = '']: readonly string[],
  option: string,
  context: ResolveContext,
): () => string | undefined {
  const problem = () => whyUntrustedProgram(program, context)
  context.programs.set(option, problem)
  return problem
}

export function optionalReader(
  source: SecretSource | undefined,
  option: string,
  context: ResolveContext,
): SecretReader | undefined {
  return source === undefined ? undefined : reader(source, option, context)
}
