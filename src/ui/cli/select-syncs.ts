import type { Config, SyncConfig } from '../../config/config.ts'
import { nearest } from '../../base/yaml/nearest.ts'
import { DirsyncdError } from '../../base/errors.ts'

/** Throws `usage` for an unknown name and `config-invalid` without any sync. */
export function selectSyncs(config: Config, name: string | undefined): readonly SyncConfig[] {
  requireSyncs(config)
  if (name === undefined) return config.syncs
  const sync = config.syncs.find((candidate) => candidate.name === name)
  if (sync !== undefined) return [sync]
  const names = config.syncs.map((candidate) => candidate.name)
  const near = nearest(name, names)
  const help = near === undefined ? `there are ${names.join(', ')}` : `did you mean ${near}?`
  throw new DirsyncdError('usage', `There is no sync ${name}; ${help}`)
}

/** Throws `config-invalid` where there is no sync. */
export function requireSyncs(config: Config): Config {
  if (config.syncs.length > 0) return config
  throw new DirsyncdError(
    'config-invalid',
    `${config.file} has no sync; add one to syncs, as config/example.yaml shows.`,
  )
}
