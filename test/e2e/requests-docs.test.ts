import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { FIXTURE } from '../support/fixture.ts'
import { program } from '../support/packages.ts'
import { startServiceSite } from '../support/site.ts'

const page = await readFile(new URL('../../docs/requests.md', import.meta.url), 'utf8')
const [, BLOCK = ''] = /^```sh\n(URL=.*?)^```$/ms.exec(page) ?? []
const [, EXAMPLE = ''] = /^URL=(.*)$/m.exec(BLOCK) ?? []

test('the requests of docs/requests.md create two people at once, and show each with the own name', async () => {
  await using service = await startServiceSite()
  expect(EXAMPLE).toMatch(/\/api\/v2\/organizations\/1$/)
  const own = `${service.baseUrl}/api/v2/organizations/${FIXTURE.organizationId}`
  const script = BLOCK.replace(EXAMPLE, own)
    .replaceAll('/directories/7/', `/directories/${FIXTURE.directoryId}/`)
    .replaceAll(/^curl /gm, `${program('curl')} -sS -w '\\n' `)
  const env = { ...process.env, TOKEN: FIXTURE.token }
  const { stdout } = await promisify(execFile)('bash', ['-e', '-c', script], { env })
  expect(stdout).toContain('201 Created')
  const shown = stdout.trim().split('\n').slice(-2)
  expect(shown.map((line) => JSON.parse(line))).toMatchObject([
    { external_id: 'try-1', name: 'Try One' },
    { external_id: 'try-2', name: 'Try Two' },
  ])
})
