import { DirsyncdError } from '../errors.ts'
import type { Env } from './secret.ts'

/** For every program; none is secret. */
const ALWAYS = ['PATH', 'HOME', 'LANG', 'TZ']

/**
 * The variables of every program, and the named ones. `option` is the option with the names, for messages:
 * `syncs[0].source.env`.
 */
export function programEnvironment(
  names: readonly string[],
  env: Env,
  option: string,
): () => Readonly<Record<string, string>> {
  const all = [...new Set([...ALWAYS, ...names])]
  return () => {
    const missing = names.find((name) => env[name] === undefined)
    if (missing !== undefined) {
      const why = `the environment variable ${missing} is not set`
      throw new DirsyncdError('secret-unavailable', `The program of ${option} cannot be run: ${why}.`)
    }
    return Object.fromEntries(all.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])))
  }
}
