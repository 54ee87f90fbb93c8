import type { Protection } from '../protection.ts'

const RELOADER = 'unit/compose/reloader.test.ts'
const OPEN_SYNCS = 'unit/compose/open-syncs.test.ts'
const RELOADS = 'e2e/reload.test.ts'

/** Changing the configuration while the program runs. */
export const RELOAD: readonly Protection[] = [
  {
    name: 'reload-waits-for-a-daemon-that-is-starting',
    file: 'compose/reload.ts',
    find: 'if (owner?.command !== DAEMON) throw noDaemon(dataDir)',
    replace: 'if (owner?.command !== null) throw noDaemon(dataDir)',
    test: 'unit/compose/reload.test.ts',
    only: 'does not listen yet',
  },
  {
    name: 'reload-waits-for-daemons-only',
    file: 'compose/reload.ts',
    find: 'if (owner?.command !== DAEMON) throw noDaemon(dataDir)\n    if',
    replace: 'if (owner === undefined) throw noDaemon(dataDir)\n    if',
    test: 'unit/compose/reload.test.ts',
    only: 'without a daemon',
  },
  {
    name: 'reload-keeps-the-old-configuration-when-the-new-one-is-wrong',
    file: 'compose/reloader.ts',
    find: 'const read = await readAgain()',
    replace: 'const read = await readAgain().catch(() => ({ ...started, syncs: [] }))',
    test: RELOADER,
    only: 'a wrong file changes nothing',
  },
  {
    name: 'reload-is-refused-while-stopping',
    file: 'compose/reloader.ts',
    find: 'if (!this.#deps.signal.aborted) return',
    replace: 'if (this.#deps !== undefined) return',
    test: RELOADER,
    only: 'a process that is stopping',
  },
  {
    name: 'reload-is-one-after-the-other',
    file: 'compose/reloader.ts',
    find: 'const next = this.#last.then(() => this.#reload())',
    replace: 'const next = this.#reload()',
    test: RELOADER,
    only: 'two reloads at once',
  },
  {
    name: 'reload-touches-only-what-was-changed',
    file: 'compose/open-syncs.ts',
    find: 'return keys.length === 0 ? [] : [{ sync, keys }]',
    replace: 'return old.has(sync) ? [{ sync, keys }] : []',
    test: OPEN_SYNCS,
    only: 'only what differs',
  },
  {
    name: 'reload-closes-all-before-it-opens-one',
    file: 'compose/open-syncs.ts',
    find: 'await this.#closeAll(touched)\n',
    replace: 'void this.#closeAll(touched)\n',
    test: OPEN_SYNCS,
    only: 'only what differs',
  },
  {
    name: 'reload-holds-up-work-on-what-is-being-changed',
    file: 'compose/open-syncs.ts',
    find: 'await this.#changing.get(sync)',
    replace: 'await Promise.resolve(sync)',
    test: OPEN_SYNCS,
    only: 'waits until that is done',
  },
  {
    name: 'reload-leaves-a-run-orderly',
    file: 'sync/executor.ts',
    find: 'if (leaving(deps, setup).aborted)\n',
    replace: 'if (deps.signal.aborted)\n',
    test: RELOADS,
    only: 'reload on an embedded store.* nothing of a plan',
  },
  {
    name: 'reload-ends-the-runs-of-a-removed-sync',
    file: 'compose/daemon-syncs.ts',
    find: 'for (const sync of removed) await',
    replace: 'for (const sync of removed.slice(removed.length)) await',
    test: RELOADS,
    only: 'reload on an embedded store.* a run of a sync that is removed',
  },
]
