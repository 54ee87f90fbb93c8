import { readFile } from 'node:fs/promises'
import { expect } from 'vitest'
import { parse } from 'yaml'
import { FIXTURE } from './fixture.ts'
import { type DirectoryContent, readService } from './read-service.ts'
import { openSite, type Site, startServiceSite } from './site.ts'
import { OWN_DATABASE } from './sync-config.ts'

/** One of `config/examples`, with a service and servers of the test. */
export interface ExampleSync extends AsyncDisposable {
  readonly site: Site
  /** Syncs once without a complaint, and once more without a change. Resolves with what the directory has then. */
  syncTwice(): Promise<DirectoryContent>
}

/**
 * Everything stays as the example has it but what must be another thing here: members are written, so that the test sees
 * them, and each text of `here` is replaced where the example has it.
 *
 * @param files beside the configuration, by name
 */
export async function openExample(
  name: string,
  here: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string | Uint8Array>>,
  env: Readonly<Record<string, string>> = {},
): Promise<ExampleSync> {
  await using stack = new AsyncDisposableStack()
  const service = stack.use(await startServiceSite())
  const site = stack.use(await openSite({ env }))
  for (const [file, content] of Object.entries({ ...files, token: FIXTURE.token }))
    await site.write(file, content)
  let text = await readFile(`config/examples/${name}.yaml`, 'utf8')
  const replaced = {
    ...here,
    '/var/lib/dirsyncd': './data',
    '/run/secrets/access-token': './token',
    'https://access.example.com': service.baseUrl,
  }
  for (const [there, instead] of Object.entries(replaced)) {
    expect(text).toContain(there)
    text = text.replaceAll(there, instead)
  }
  const { syncs, ...rest } = parse(text)
  const [sync] = syncs
  sync.directory.membership = 'write'
  await site.configure({ ...rest, store: OWN_DATABASE, admin: { listen: false }, syncs: [sync] })
  const owned = stack.move()
  return {
    site,
    async syncTwice() {
      expect(await site.run('check')).toMatchObject({ code: 0 })
      expect(await site.run('sync')).toMatchObject({ code: 0, stderr: '' })
      const again = await site.json('sync')
      expect(again.lines[0]).toMatchObject({ state: 'done', totalChanges: 0 })
      return readService({ ...FIXTURE, baseUrl: service.baseUrl })
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
