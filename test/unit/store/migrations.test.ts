import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

/** The first digits of the SHA-256 of each migration's code. Add one for a new migration; never change one. */
const MIGRATIONS = {
  'store/migrations': {
    '0001-leases.ts': '49413b06053c020c',
    '0002-runs.ts': 'c34edc47c10a8136',
    '0003-request-budgets.ts': '714faf788340e5e1',
    '0004-quarantine-entries.ts': 'be0dbcd3a12a1f41',
    '0005-evidence.ts': '73a5ee6954bedac3',
    '0006-convergence.ts': '038495b20a68e1d0',
    '0007-waiting.ts': '890be4231a008b03',
    '0008-nested-strangers.ts': 'b4a186053bb41f5b',
    '0009-apply.ts': '12eb62a4100630fe',
    '0010-retention.ts': '074c6bfcc977ae39',
    '0011-refused-logins.ts': 'b6b79c015d846c08',
    '0012-member-lists.ts': '174d1a8359ace068',
    '0013-token-lives.ts': '9b604dde307abf5c',
    '0014-canaries.ts': '28716b742306ced5',
    '0015-large-plans.ts': '0c5a5c2646f94eb8',
    '0016-missed-creates.ts': '851a2130102a20c6',
    '0017-undo.ts': 'af52f108886e81fe',
    '0018-decided.ts': 'c11c1d226d7cfa2e',
    '0019-configurations.ts': '6b5904ef6bab78ea',
    '0020-wishes.ts': 'bcc45c83a3338cc0',
    '0021-watching.ts': 'd0c29ca8e6d6cebf',
    '0022-notifications.ts': 'f16ec6140d1e94ce',
    '0023-pages.ts': 'c4b08c264b3e7908',
    '0024-approvers.ts': 'ed969aaf4eaa5876',
    '0025-resumed.ts': '799d8f414942d4de',
    '0026-quarantine-names.ts': '535f48d9551e129f',
  },
  'service/store/migrations': {
    '0001-organizations.ts': '38b3340552d34563',
    '0002-entries.ts': '46090e90fbbb0219',
    '0003-subscriptions.ts': 'e6de2c2f6a766e66',
    '0004-events.ts': '4480f1bb4c7c3840',
    '0005-blocks.ts': '05dc02e3f3bde9a7',
    '0006-create-entries.ts': 'f4c8acb65ffdb6d2',
    '0007-resources.ts': '7ab9b3e8ba2d9c93',
    '0008-signing-keys.ts': '85c6686225f95b11',
    '0009-removed.ts': 'feff4846cc131af9',
  },
}

test.each(Object.entries(MIGRATIONS))(
  'what a database may have run already is never edited: src/%s',
  (folder, digests) => {
    const path = fileURLToPath(new URL(`../../../src/${folder}/`, import.meta.url))
    const files = readdirSync(path).filter((name) => /^\d/.test(name))
    const code = files.map((name) => [name, digestOf(readFileSync(path + name, 'utf8'))])
    expect(Object.fromEntries(code)).toEqual(digests)
  },
)

/** Comments and line breaks may change. */
function digestOf(code: string): string {
  const bare = code.replaceAll(/\/\*\*.*?\*\/|\s+/gs, ' ').replaceAll(/ +/g, ' ')
  return createHash('sha256').update(bare).digest('hex').slice(0, 16)
}
