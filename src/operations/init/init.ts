import { randomUUID } from 'node:crypto'
import { dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Config } from '../../config/config.ts'
import { type Env } from '../../base/secrets/secret.ts'
import { loadConfig, readRawConfig } from '../../config/load.ts'
import type { Log } from '../../base/log/log.ts'
import {
  discoverCsv,
  type FoundCsv,
  proposeColumns,
  proposeGroupColumns,
  type Wanted,
} from '../../source/csv/discover.ts'
import { memberColumns } from '../../source/csv/member-columns.ts'
import type { Looking, LookingFor } from '../../source/ldap/discover/count.ts'
import {
  discoverGroups,
  discoverPeople,
  type FoundGroups,
  type FoundPeople,
} from '../../source/ldap/discover/discover.ts'
import { discoverKinds, type EntryKind } from '../../source/ldap/discover/kinds.ts'
import { discoverMarks, type Marks } from '../../source/ldap/discover/marks.ts'
import { treeOf } from '../../source/ldap/discover/tally.ts'
import { lookAtServer, type ServerLook, type ServerOptions } from '../../source/ldap/discover/server.ts'
import { dnKey } from '../../source/ldap/dn.ts'
import { filterProblem } from '../../source/ldap/filter.ts'
import { parseEndpoints } from '../../source/ldap/connection/endpoint.ts'
import { Logins } from '../../source/ldap/connection/logins.ts'
import { type CheckItem, checkDirectory, checkSource, withoutWarnings } from '../check.ts'
import { listDirectories, type ListedDirectory } from './directories.ts'
import { type DraftPlace, type NewFile, type RawServer, type RawSync, resolveDraft } from './draft.ts'
import { freePath, openStage, SECRETS, type Stage } from './stage.ts'
import { configurationText, type RawConfiguration } from './yaml.ts'
import { domainsInWords, type EmailTally, tallyEmails } from '../../source/email-tally.ts'
import type { LeftBehind } from './left-behind.ts'
import { deleteLeftBehind, tryDomains, type TryingOut, tryMembers } from './try-out.ts'
import { isThisMachine } from '../../base/this-machine.ts'
import { openClient, openSource, sourceProblem } from '../../compose/site.ts'

/** Replaces the other side while only one is agreed on. Nothing is sent there. */
const NO_DIRECTORY: RawSync['directory'] = {
  baseUrl: 'http://localhost',
  organizationId: 1,
  directoryId: 1,
  token: { env: 'NONE' },
}
const NOBODY = { base: 'dc=none', filter: '(objectClass=*)', map: { external_id: 'none' } }

const SAMPLES = { users: 10, groups: 10 }

/** The steps from nothing to a configuration. None writes before `openStage`, which removes what it wrote. */
export class InitSteps {
  readonly #log: Log
  readonly #signal: AbortSignal
  readonly #logins = new Logins()

  constructor(log: Log, signal: AbortSignal) {
    // The questions say what a log would warn of.
    this.#log = log.child({}, { level: withoutWarnings(log.level) })
    this.#signal = signal
  }

  /** A new file with a name that does not exist yet. */
  async newSecret(name: string, text: string, { file }: DraftPlace): Promise<NewFile> {
    return { path: await freePath(dirname(file), `${SECRETS}/${name}`), text: `${text}\n` }
  }

  async newCertificate(text: string, { file }: DraftPlace): Promise<NewFile> {
    return { path: await freePath(dirname(file), 'ldap-ca.pem'), text }
  }

  /** Whether an unencrypted connection to this server leaves the machine. */
  crossesNetwork(url: string): boolean {
    return URL.canParse(url) && !isThisMachine(new URL(url).hostname)
  }

  readonly propose = { users: proposeColumns, groups: proposeGroupColumns, members: memberColumns }

  /** Throws `config-invalid` where the bind password would cross the network in the clear. */
  requirePrivacy({ url, tls }: RawServer, dn: string): void {
    const bind = { dn, password: () => Promise.resolve('') }
    parseEndpoints({ url, tls: { startTls: tls?.startTls === true }, bind })
  }

  async lookAtServer(server: RawServer, place: DraftPlace): Promise<ServerLook> {
    return lookAtServer(await serverOptions(server, place), this.#log, this.#signal)
  }

  /** Object classes of users or groups; none where the bind account sees none. */
  async discoverKinds(
    kind: 'user' | 'group',
    server: RawServer,
    looking: Looking,
    place: DraftPlace,
  ): Promise<readonly EntryKind[]> {
    return discoverKinds(kind, await serverOptions(server, place), looking, this.#log, this.#signal)
  }

  async discoverPeople(server: RawServer, looking: LookingFor, place: DraftPlace): Promise<FoundPeople> {
    return discoverPeople(await serverOptions(server, place), looking, this.#log, this.#signal)
  }

  async discoverMarks(server: RawServer, looking: LookingFor, place: DraftPlace): Promise<Marks> {
    return discoverMarks(await serverOptions(server, place), looking, this.#log, this.#signal)
  }

  async discoverGroups(server: RawServer, looking: LookingFor, place: DraftPlace): Promise<FoundGroups> {
    return discoverGroups(await serverOptions(server, place), looking, this.#log, this.#signal)
  }

  readonly filterProblem = filterProblem

  readonly domainsInWords = domainsInWords

  readonly treeOf = treeOf

  /** Removes duplicates and DNs below others. */
  outermost(dns: readonly string[]): readonly string[] {
    const different = [...new Map(dns.map((dn) => [dnKey(dn), dn])).values()]
    return different.filter((dn) => !different.some((other) => dnKey(dn).endsWith(`,${dnKey(other)}`)))
  }

  discoverCsv(wanted: Wanted, key: string): Promise<FoundCsv> {
    return discoverCsv(wanted, key, this.#signal)
  }

  async *preview(
    source: RawSync['source'],
    place: DraftPlace,
    onEmails: (tally: EmailTally) => void,
  ): AsyncGenerator<CheckItem> {
    const sync = await resolveDraft({ name: 'init', source, directory: NO_DIRECTORY }, place)
    const how = { samples: SAMPLES, log: this.#log, logins: this.#logins, onEmails }
    yield* checkSource(sync, how, this.#signal)
  }

  /** The e-mails that a run takes where only these domains are allowed: it may choose another e-mail of a user. */
  async countEmails(
    source: RawSync['source'],
    allowedDomains: readonly string[],
    place: DraftPlace,
  ): Promise<EmailTally> {
    const directory = { ...NO_DIRECTORY, allowedDomains: [...allowedDomains] }
    const sync = await resolveDraft({ name: 'init', source, directory }, place)
    const opened = openSource(sync.source, this.#log, { logins: this.#logins })
    const { users } = await opened.read(this.#signal, { isAsked: true, isForDisplay: true })
    return tallyEmails(users.values(), sync.directory.allowedDomains)
  }

  /** `directory.directoryId` is ignored. */
  async listDirectories(
    directory: RawSync['directory'],
    place: DraftPlace,
  ): Promise<readonly ListedDirectory[]> {
    const sync = await resolveDraft({ name: 'init', source: NO_SOURCE, directory }, place)
    return listDirectories(sync, this.#log, this.#signal)
  }

  async *checkDirectory(
    directory: RawSync['directory'],
    place: DraftPlace,
    onLeftBehind: (entries: readonly LeftBehind[]) => void,
  ): AsyncGenerator<CheckItem> {
    const sync = await resolveDraft({ name: 'init', source: NO_SOURCE, directory }, place)
    const how = { site: undefined, log: this.#log, writes: true, onLeftBehind }
    yield* checkDirectory(sync, how, this.#signal)
  }

  /** Whether the service accepts group members. Creates and deletes a user and a group. */
  tryMembers(
    directory: RawSync['directory'],
    place: DraftPlace,
    say: TryingOut['say'],
  ): ReturnType<typeof tryMembers> {
    return this.#tryOut(directory, place, (where) => tryMembers({ ...where, say }))
  }

  /** Which e-mail domains the service accepts. Creates and deletes a user. */
  tryDomains(
    domains: readonly string[],
    directory: RawSync['directory'],
    place: DraftPlace,
    say: TryingOut['say'],
  ): ReturnType<typeof tryDomains> {
    return this.#tryOut(directory, place, (where) => tryDomains({ ...where, say }, domains))
  }

  /** Deletes the test entries. Returns the remaining ones, in sentences. */
  deleteLeftBehind(
    entries: readonly LeftBehind[],
    directory: RawSync['directory'],
    place: DraftPlace,
  ): Promise<readonly string[]> {
    return this.#tryOut(directory, place, (where) => deleteLeftBehind(where, entries))
  }

  async #tryOut<Found>(
    directory: RawSync['directory'],
    place: DraftPlace,
    work: (where: Omit<TryingOut, 'say'>) => Promise<Found>,
  ): Promise<Found> {
    const sync = await resolveDraft({ name: 'init', source: NO_SOURCE, directory }, place)
    const deviceId = `dirsyncd-init-${randomUUID()}`
    await using client = openClient(sync, {
      deviceId,
      limit: undefined,
      onTokenLife: () => {},
      log: this.#log,
    })
    // Awaited, because leaving the block closes the client.
    return await work({ client, directoryId: directory.directoryId, signal: this.#signal })
  }

  /** Writes everything into a folder of its own, and loads it from there as every command does. */
  async stage(
    configuration: RawConfiguration,
    place: DraftPlace,
  ): Promise<{ readonly stage: Stage; readonly config: Config }> {
    await using stack = new AsyncDisposableStack()
    const stage = stack.use(await openStage(place.file, configurationText(configuration), place.files))
    const config = await loadStaged(stage, configuration, place.env)
    stack.move()
    return { stage, config }
  }
}

const NO_SOURCE: RawSync['source'] = {
  type: 'csv',
  users: { path: 'none', map: { external_id: 'none' } },
}

/** Throws where the text does not match the answers. The store of the first plan is in the stage. */
async function loadStaged(stage: Stage, configuration: RawConfiguration, env: Env): Promise<Config> {
  const config = await loadConfig({ file: stage.file, env, sourceProblem })
  const { value } = await readRawConfig({ file: stage.file, env })
  if (!isDeepStrictEqual(value, structuredClone(configuration)))
    throw new Error('the written configuration is not the one that was agreed on')
  return { ...config, dataDir: stage.dataDir }
}

async function serverOptions(server: RawServer, place: DraftPlace): Promise<ServerOptions> {
  const source = { ...server, users: NOBODY }
  const { source: resolved } = await resolveDraft({ name: 'init', source, directory: NO_DIRECTORY }, place)
  if (resolved.type !== 'ldap') throw new Error('the draft is of an LDAP server')
  return resolved.options
}
