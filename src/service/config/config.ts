import { join, resolve } from 'node:path'
import type { StoreConfig } from '../../base/database/store-config.ts'
import type { LoggedConfig } from '../../base/terminal/session-log.ts'
import { checkValues } from '../../base/yaml/check.ts'
import type { Fault } from '../../base/yaml/document.ts'
import { type Checked, type ConfigPlace, type FileKind, loadFile } from '../../base/yaml/load.ts'
import { flatOptions } from '../../base/yaml/options.ts'
import { type ResolveContext, resolveRateLimit, storeConfig, toAddress } from '../../base/yaml/resolve.ts'
import type { Address } from '../../base/yaml/values.ts'
import { type ParsedConfig, serviceSchema } from './schema.ts'

export interface ServiceConfig {
  readonly listen: Address
  readonly store: StoreConfig
  /** Absolute. */
  readonly dataDir: string
  /** Absolute. */
  readonly keyFile: string
  /** Without a slash at the end. */
  readonly publicUrl: string | undefined
  readonly trustedProxies: readonly string[]
  readonly fixture: string | undefined
  /** `undefined` keeps events for ever. */
  readonly eventRetentionMs: number | undefined
  readonly requestLog: string | undefined
  /** `undefined` is no limit. */
  readonly rateLimit: { readonly requests: number; readonly perMs: number } | undefined
  /** In the form of `access-service start --faults`. */
  readonly faults: string | undefined
  readonly uniqueExternalIds: boolean
}

/** Checked, resolved and frozen. */
export interface Config extends LoggedConfig {
  /** Absolute. */
  readonly file: string
  readonly service: ServiceConfig
}

const KIND: FileKind = {
  variable: 'ACCESS_SERVICE_CONFIG',
  usualFiles: ['/etc/access-service/access-service.yaml'],
  remedy: 'copy config/access-service.yaml',
}

/**
 * Reads `file`, else `$ACCESS_SERVICE_CONFIG`, else `/etc/access-service/access-service.yaml`. Throws as `loadFile`.
 */
export function loadConfig(from: ConfigPlace): Promise<Config> {
  return loadFile(from, KIND, { check: async (value) => checkConfig(value), resolve: resolveConfig })
}

function checkConfig(value: unknown): Checked<ParsedConfig> {
  const { config, faults } = checkValues(serviceSchema, value)
  return { config, faults: [...faults.map(explained), ...passwordFaults(config)] }
}

function explained(fault: Fault): Fault {
  if (fault.path.join('.') !== 'syncs') return fault
  return {
    ...fault,
    message: 'belongs to dirsyncd, which has a file of its own: this file is that of access-service',
  }
}

function passwordFaults(config: ParsedConfig | undefined): Fault[] {
  if (config?.service.storePassword === undefined || config.service.store !== 'embedded') return []
  return [{ path: ['service', 'storePassword'], message: 'has no use while store is embedded' }]
}

function resolveConfig(parsed: ParsedConfig, context: ResolveContext): Config {
  const { file, folder } = context
  return {
    file,
    log: parsed.log,
    service: serviceConfig(parsed.service, resolve(folder, parsed.dataDir), context),
    written: flatOptions(parsed),
  }
}

function serviceConfig(
  service: ParsedConfig['service'],
  dataDir: string,
  context: ResolveContext,
): ServiceConfig {
  const optionalPath = (path: string | undefined) =>
    path === undefined ? undefined : resolve(context.folder, path)
  return {
    listen: toAddress(service.listen),
    store: storeConfig(service.store, service.storePassword, 'service.storePassword', context),
    dataDir: optionalPath(service.dataDir) ?? join(dataDir, 'service'),
    keyFile: resolve(context.folder, service.keyFile),
    publicUrl: service.publicUrl?.replace(/\/+$/, ''),
    trustedProxies: service.trustedProxies,
    fixture: optionalPath(service.fixture),
    eventRetentionMs: service.eventRetention ?? undefined,
    requestLog: optionalPath(service.requestLog),
    rateLimit: resolveRateLimit(service.rateLimit),
    faults: service.faults,
    uniqueExternalIds: service.uniqueExternalIds,
  }
}
