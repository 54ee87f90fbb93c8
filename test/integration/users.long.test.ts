import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { startProgram } from '../support/program.ts'
import { openSite } from '../support/site.ts'
import { embeddedConfig } from '../support/sync-config.ts'
import { unprivileged } from '../support/unprivileged.ts'

const nobody = unprivileged('nobody')

function giveTo(owner: string, ...paths: readonly string[]): void {
  execFileSync('chown', ['-R', owner, ...paths])
}

/** Only root can give files away. */
test.runIf(process.geteuid?.() === 0)(
  'the daemon answers root, also while it starts, and names to its user what root has left',
  async () => {
    await using stack = new AsyncDisposableStack()
    const site = stack.use(await openSite())
    const source = { type: 'csv', users: { path: './users.csv', map: { external_id: 'id', name: 'name' } } }
    const place = { organizationId: 1, directoryId: 1, token: { env: 'TOKEN' } }
    const directory = { baseUrl: 'http://127.0.0.1:9', ...place }
    await site.configure(embeddedConfig([{ name: 'corp', source, directory }]))
    giveTo('nobody', site.dir)
    const args = ['--config', join(site.dir, 'dirsyncd.yaml')]
    const options = { user: nobody, env: { TOKEN: 'none' } }
    const daemon = stack.use(startProgram(['start', ...args], options))
    // It is starting, and root waits for it.
    await eventually(() => expect(existsSync(join(site.dataDir, 'owner.json'))).toBe(true))
    expect(await site.run('runs')).toMatchObject({ code: 0 })
    daemon.kill('SIGTERM')
    await daemon.ended
    expect((await site.run('runs')).stderr).toContain('belongs to user nobody')

    const { dataDir } = site
    giveTo('root', join(dataDir, 'owner.lock'), join(dataDir, 'store', 'base'))
    // SQLite could read the lock of root, and lock nobody out.
    expect((await startProgram(['runs', ...args], options).ended).stderr).toBe(
      `The data directory ${dataDir} cannot be used: ${dataDir}/owner.lock belongs to user root; give it to the user of ` +
        `this process by \`chown -R nobody ${dataDir}/owner.lock ${dataDir}/store\` as root.\n`,
    )
  },
)
