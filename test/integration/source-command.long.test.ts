import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { silentLog } from '../../src/base/log/log.ts'
import { createCommandSource } from '../../src/source/command/command-source.ts'
import { tempDir } from '../support/temp.ts'

test('an output of 200,000 entries is read while it is printed', async () => {
  await using dir = await tempDir()
  await writeFile(
    join(dir.path, 'many.mjs'),
    `import { once } from 'node:events'
    for (let at = 0; at < 200_000; at += 100) {
      let text = ''
      for (let n = at; n < at + 100; n += 1) text += JSON.stringify({ user: { id: 'u' + n, first: 'A', last: 'B' } }) + '\\n'
      if (!process.stdout.write(text)) await once(process.stdout, 'drain')
    }
    process.stdout.write('{"complete":true,"users":200000}\\n')`,
  )
  const source = createCommandSource(
    {
      command: [process.execPath, 'many.mjs'],
      folder: dir.path,
      timeoutMs: 300_000,
      environment: () => ({}),
      secretNames: [],
      maxOutput: 100 * 1024 * 1024,
      maxEntries: 1_000_000,
      users: { map: { external_id: 'id', name: '{first} {last}' } },
    },
    silentLog(),
  )
  const snapshot = await source.read(new AbortController().signal)
  expect(snapshot.users.size).toBe(200_000)
})
