import type { Story } from '../../src/operations/story.ts'
import { emptyDirectoriesFixture } from './fixture.ts'
import { type Company, type CompanySource, csvCompany, ldapCompany, type Somebody } from './one-company.ts'
import type { ProgramResult } from './program.ts'
import { openSite, type ServiceSite, type Site, startServiceSite } from './site.ts'
import { type Slapd, startSlapd } from './slapd.ts'
import { databaseConfig, directorySection, NO_GUARDS } from './sync-config.ts'

export type SourceKind = CompanySource['kind']

export const ALL_SOURCES: readonly SourceKind[] = ['ldap', 'csv']

const FIRST_DIRECTORY = 100

/** An LDAP server, a service and a folder, for many scenes one after the other. */
export class Stage implements AsyncDisposable {
  readonly service: ServiceSite
  readonly site: Site
  readonly #slapd: Slapd
  readonly #stack: AsyncDisposableStack
  #scenes = 0

  constructor(parts: { slapd: Slapd; service: ServiceSite; site: Site; stack: AsyncDisposableStack }) {
    this.#slapd = parts.slapd
    this.service = parts.service
    this.site = parts.site
    this.#stack = parts.stack
  }

  static async open(): Promise<Stage> {
    await using stack = new AsyncDisposableStack()
    const slapd = stack.use(await startSlapd({ tls: false, overlays: ['syncprov'] }))
    const service = stack.use(
      await startServiceSite({ fixture: emptyDirectoriesFixture(FIRST_DIRECTORY, 100) }),
    )
    const site = stack.use(await openSite())
    return new Stage({ slapd, service, site, stack: stack.move() })
  }

  /** A sync with a source and a directory of its own. */
  async openScene(kind: SourceKind): Promise<Scene> {
    this.#scenes += 1
    const name = `${kind}-${this.#scenes}`
    const source = await this.#openSource(kind, name)
    const scene = new Scene(this, name, source, FIRST_DIRECTORY + this.#scenes)
    await scene.configure()
    return scene
  }

  async countWrites(): Promise<number> {
    return (await this.service.requests()).filter(({ method }) => method !== 'GET').length
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync()
  }

  #openSource(kind: SourceKind, name: string): CompanySource | Promise<CompanySource> {
    if (kind === 'ldap') return ldapCompany(this.#slapd, this.site, name)
    return csvCompany(this.site, name)
  }
}

/** What an administrator does with one sync. */
export class Scene {
  readonly sync: string
  readonly #stage: Stage
  readonly #source: CompanySource
  readonly #directoryId: number

  constructor(stage: Stage, sync: string, source: CompanySource, directoryId: number) {
    this.#stage = stage
    this.sync = sync
    this.#source = source
    this.#directoryId = directoryId
  }

  async configure({
    directory = {},
    source = {},
    ...more
  }: Partial<Record<string, object>> = {}): Promise<void> {
    const section = directorySection(this.#stage.service, { directoryId: this.#directoryId, ...directory })
    const sync = { name: this.sync, source: { ...this.#source.section, ...source }, directory: section }
    await this.#stage.site.configure(databaseConfig([{ ...sync, guards: NO_GUARDS, ...more }]))
  }

  write(users: readonly Somebody[], groups: Company['groups'] = []): Promise<void> {
    return this.#source.write({ users, groups })
  }

  run(): Promise<ProgramResult> {
    return this.#stage.site.run('sync', this.sync)
  }

  /** Runs while the source has these users, one company after the other. */
  async runs(...companies: readonly (readonly Somebody[])[]): Promise<void> {
    for (const users of companies) {
      await this.write(users)
      await this.run()
    }
  }

  async lastRun(): Promise<string> {
    const { lines } = await this.#stage.site.json('runs', '--sync', this.sync, '--limit', '1')
    return String(lines[0].run)
  }

  async explain(who: string, ...more: readonly string[]): Promise<Story> {
    const { lines } = await this.#stage.site.json('explain', this.sync, who, ...more)
    return lines[0]
  }
}
