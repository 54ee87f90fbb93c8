import { resolve } from 'node:path'
import type { CommandSourceOptions } from '../source/command/options.ts'
import type { CsvFile, CsvSourceOptions } from '../source/csv/options.ts'
import type { LdapSourceOptions } from '../source/ldap/options.ts'
import type {
  AccessConfig,
  ChannelConfig,
  Config,
  DirectoryConfig,
  QueueConfig,
  SourceConfig,
  SyncConfig,
} from './config.ts'
import type { ParsedConfig, ParsedSync } from './schema.ts'
import type { Options } from '../core/plan/configuration.ts'
import type { Grace } from '../core/checks/check.ts'
import { DirsyncdError } from '../base/errors.ts'
import { flatOptions } from '../base/yaml/options.ts'
import { programEnvironment } from '../base/secrets/program-environment.ts'
import {
  optionalReader,
  programProblem,
  reader,
  type ResolveContext,
  resolveRateLimit,
  storeConfig,
  toAddress,
} from '../base/yaml/resolve.ts'
import type { Address, SecretSource } from '../base/yaml/values.ts'
import { toSchedule } from './schedule.ts'

export interface SyncContext extends ResolveContext {
  /** The text of every CA file, by the path in the configuration. */
  readonly caFiles: ReadonlyMap<string, string>
}

/** Resolves checked values: absolute paths, readers of secrets, milliseconds. */
export function resolveConfig(parsed: ParsedConfig, context: SyncContext): Config {
  const dataDir = resolve(context.folder, parsed.dataDir)
  const { syncs, ...others } = parsed
  return {
    file: context.file,
    dataDir,
    store: storeConfig(parsed.store, parsed.storePassword, 'storePassword', context),
    queue: queueConfig(parsed, context),
    admin: { listen: optionalAddress(parsed.admin.listen), ...accessConfig(parsed.admin, context) },
    worker: { listen: optionalAddress(parsed.worker.listen) },
    log: parsed.log,
    notifications: {
      ...parsed.notifications,
      channels: parsed.notifications.channels.map((channel, index) =>
        channelConfig(channel, `notifications.channels[${index}]`, context),
      ),
    },
    retention: { timeMs: parsed.retention.time, rows: parsed.retention.rows },
    syncs: syncs.map((sync, index) => syncConfig(sync, `syncs[${index}]`, context)),
    written: flatOptions(others),
  }
}

function optionalAddress(listen: string | false): Address | undefined {
  return listen === false ? undefined : toAddress(listen)
}

function accessConfig(
  { hosts, token, userHeader, trustedProxies: networks, proxySecret }: ParsedConfig['admin'],
  context: SyncContext,
): AccessConfig {
  return {
    hosts: hosts.map((host) => host.toLowerCase()),
    token: optionalReader(token, 'admin.token', context),
    proxy:
      userHeader === undefined
        ? undefined
        : {
            header: userHeader.toLowerCase(),
            networks,
            secret: optionalReader(proxySecret, 'admin.proxySecret', context),
          },
  }
}

function channelConfig(
  channel: ParsedConfig['notifications']['channels'][number],
  option: string,
  context: SyncContext,
): ChannelConfig {
  const ca = channel.ca === undefined ? undefined : context.caFiles.get(channel.ca)
  const read = (source: SecretSource, key: string) => reader(source, `${option}.${key}`, context).read
  switch (channel.type) {
    case 'webhook':
      return { ...channel, ca, proxy: channel.proxy, secret: read(channel.secret, 'secret') }
    case 'slack':
      return { ...channel, ca, proxy: channel.proxy, url: read(channel.url, 'url') }
    case 'email':
      return {
        ...channel,
        ca,
        user: channel.user,
        password: channel.password && read(channel.password, 'password'),
      }
  }
}

function queueConfig(parsed: ParsedConfig, context: SyncContext): QueueConfig {
  if (parsed.queue === 'store') return { kind: 'store' }
  const password = optionalReader(parsed.queuePassword, 'queuePassword', context)
  return { kind: 'redis', url: parsed.queue, password }
}

function syncConfig(sync: ParsedSync, option: string, context: SyncContext): SyncConfig {
  const directory = directoryConfig(sync.directory, option, context)
  return {
    name: sync.name,
    schedule: sync.schedule === undefined ? undefined : toSchedule(sync.schedule, sync.timezone),
    source: withDomains(sourceConfig(sync.source, option, context), directory.allowedDomains),
    directory,
    entries: sync.entries,
    policy: sync.policy,
    guards: sync.guards,
    approvalsExpireAfterMs: sync.guards.approvalsExpireAfter,
    grace: graceOptions(sync),
    written: { ...flatOptions(sync), ...authorities(sync, context) },
  }
}

/** A file of certificates may get new content under the same name. */
function authorities({ source, directory }: ParsedSync, { caFiles }: SyncContext): Options {
  const paths = { 'directory.ca': directory.ca, 'tls.ca': source.type === 'ldap' ? source.tls.ca : undefined }
  const found = Object.entries(paths).flatMap(([key, path]) =>
    path === undefined ? [] : [[key, `${path}\n${caFiles.get(path)}`] as const],
  )
  return Object.fromEntries(found)
}

function withDomains(source: SourceConfig, allowedDomains: readonly string[] = []): SourceConfig {
  switch (source.type) {
    case 'ldap':
      return { type: 'ldap', options: { ...source.options, allowedDomains } }
    case 'csv':
      return { type: 'csv', options: { ...source.options, allowedDomains } }
    case 'command':
      return { type: 'command', options: { ...source.options, allowedDomains } }
  }
}

const CONFIRM_AFTER_MS = 60 * 60 * 1000

function graceOptions({ guards: { users, groups }, source }: ParsedSync): Grace {
  const user = graceRule(users.deleteAfter)
  const group = graceRule(groups.deleteAfter)
  const confirmAfter = source.type === 'ldap' ? source.confirmAfter : undefined
  return {
    deleteAfter: { ...(user && { user }), ...(group && { group }) },
    confirmAfterMs: confirmAfter ?? CONFIRM_AFTER_MS,
    hidesServers: confirmAfter !== undefined,
  }
}

function graceRule(deleteAfter: ParsedSync['guards']['users']['deleteAfter']): Grace['deleteAfter']['user'] {
  if (deleteAfter === 0) return undefined
  return typeof deleteAfter === 'number' ? { ms: deleteAfter } : deleteAfter
}

function directoryConfig(
  directory: ParsedSync['directory'],
  option: string,
  context: SyncContext,
): DirectoryConfig {
  const { rateLimit, allowedDomains } = directory
  return {
    ...directory,
    baseUrl: directory.baseUrl.replace(/\/+$/, ''),
    token: reader(directory.token, `${option}.directory.token`, context),
    allowedDomains: allowedDomains?.map((domain) => domain.normalize('NFC').toLowerCase()),
    rateLimit: resolveRateLimit(rateLimit),
    ca: directory.ca === undefined ? undefined : context.caFiles.get(directory.ca),
    proxy: directory.proxy,
  }
}

/** `option` is the sync, such as `syncs[0]`. */
export function sourceConfig(
  source: ParsedSync['source'],
  option: string,
  context: SyncContext,
): SourceConfig {
  switch (source.type) {
    case 'ldap':
      return { type: 'ldap', options: ldapOptions(source, `${option}.source`, context) }
    case 'csv':
      return { type: 'csv', options: csvOptions(source, context) }
    case 'command':
      return { type: 'command', options: commandOptions(source, `${option}.source`, context) }
  }
}

type ParsedLdap = Extract<ParsedSync['source'], { type: 'ldap' }>
type ParsedCsv = Extract<ParsedSync['source'], { type: 'csv' }>
type ParsedCommand = Extract<ParsedSync['source'], { type: 'command' }>

function ldapOptions(source: ParsedLdap, option: string, context: SyncContext): LdapSourceOptions {
  const { type: _, tls, bind, timeouts, confirmAfter: _after, ...others } = source
  return {
    ...others,
    tls: tlsOptions(tls, `${option}.tls`, context),
    ...(bind !== undefined && {
      bind: bind.external === true ? bind : passwordBind(bind, `${option}.bind`, context),
    }),
    timeouts: timeoutOptions(timeouts),
  }
}

type ParsedBind = NonNullable<ParsedLdap['bind']>

function passwordBind(
  { dn, password, allowPlainText }: Extract<ParsedBind, { dn: string }>,
  option: string,
  context: SyncContext,
): NonNullable<LdapSourceOptions['bind']> {
  return { dn, password: reader(password, `${option}.password`, context).read, allowPlainText }
}

/** Client certificates are often short-lived, so the file is read again like a secret. */
function tlsOptions(
  { ca: path, startTls, certificate, key }: ParsedLdap['tls'],
  option: string,
  context: SyncContext,
): LdapSourceOptions['tls'] {
  const ca = path === undefined ? undefined : context.caFiles.get(path)
  const pem = (source: string | SecretSource, name: string) =>
    reader(typeof source === 'string' ? { file: source } : source, `${option}.${name}`, context).read
  return {
    startTls,
    ...(ca !== undefined && { ca }),
    ...(certificate !== undefined && { certificate: pem(certificate, 'certificate') }),
    ...(key !== undefined && { key: pem(key, 'key') }),
  }
}

function timeoutOptions(timeouts: ParsedLdap['timeouts']): LdapSourceOptions['timeouts'] {
  const { connect, handshake = connect, bind = connect, answer, firstAnswer = answer, read } = timeouts
  return {
    connectMs: connect,
    handshakeMs: handshake,
    bindMs: bind,
    firstAnswerMs: firstAnswer,
    answerMs: answer,
    readMs: read,
  }
}

function csvOptions(source: ParsedCsv, { folder }: SyncContext): CsvSourceOptions {
  const { type: _, users, groups, members, settle, ...others } = source
  return {
    ...others,
    users: csvFile(users, folder),
    ...(groups !== undefined && { groups: csvGroups(groups, folder) }),
    ...(members !== undefined && { members: csvFile(members, folder) }),
    ...(settle !== undefined && { settleMs: settle }),
  }
}

function csvGroups(
  { path, map, column, separator, name, ...format }: NonNullable<ParsedCsv['groups']>,
  folder: string,
): NonNullable<CsvSourceOptions['groups']> {
  if (path !== undefined && map !== undefined) return csvFile({ ...format, path, map }, folder)
  return {
    // The schema has refused a section with neither form.
    column: column ?? '',
    ...(separator !== undefined && { separator }),
    ...(name !== undefined && { name }),
  }
}

function csvFile<M>(
  { path, maxAge, ...others }: Omit<ParsedCsv['users'], 'map'> & { readonly map: M },
  folder: string,
): CsvFile<M> {
  return {
    ...others,
    path: typeof path === 'string' ? resolve(folder, path) : path.map((each) => resolve(folder, each)),
    ...(maxAge !== undefined && { maxAgeMs: maxAge }),
  }
}

function commandOptions(source: ParsedCommand, option: string, context: SyncContext): CommandSourceOptions {
  const { type: _, timeout, env: names, ...others } = source
  const problem = programProblem(source.command, `${option}.command`, context)
  const environment = programEnvironment(names, context.env, `${option}.env`)
  return {
    ...others,
    folder: context.folder,
    timeoutMs: timeout,
    environment: () => {
      const why = problem()
      if (why !== undefined) throw new DirsyncdError('config-invalid', `${option}.command: ${why}.`)
      return environment()
    },
    secretNames: names,
  }
}
