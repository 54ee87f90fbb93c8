import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { FIXTURE } from '../support/fixture.ts'
import { oddCompany } from '../support/odd-company.ts'
import { activeDirectoryLdif } from '../support/odd-company-ldif.ts'
import { runCommand } from '../support/program.ts'
import { SAMBA_BASE, startSamba } from '../support/samba.ts'
import { type ServiceSite, startServiceSite } from '../support/site.ts'
import { tempDir, type TempDir } from '../support/temp.ts'
import type { VendorServer } from '../support/vendor-server.ts'

const stack = new AsyncDisposableStack()
let server: VendorServer
let service: ServiceSite
let dir: TempDir

beforeAll(async () => {
  server = stack.use(await startSamba(activeDirectoryLdif(oddCompany(), SAMBA_BASE)))
  service = stack.use(await startServiceSite())
  dir = stack.use(await tempDir())
}, 300_000)

afterAll(() => stack.disposeAsync())

test('Active Directory: dirsyncd init finds people, groups and their mapping, and the certificate is trusted by its fingerprint', async () => {
  const file = join(dir.path, 'dirsyncd.yaml')
  const env = { PASSWORD: server.reader.password, TOKEN: FIXTURE.token }
  const args = [
    'init',
    '--yes',
    '--file',
    file,
    '--data-dir',
    join(dir.path, 'data'),
    '--source',
    'ldap',
    '--url',
    server.ldapsUrl ?? '',
    '--bind-dn',
    server.reader.dn,
    '--bind-password-env',
    'PASSWORD',
    '--api-url',
    service.baseUrl,
    '--organization',
    '1',
    '--directory',
    '7',
    '--token-env',
    'TOKEN',
  ]
  const refused = await runCommand(args, { env })
  const [, fingerprint = ''] = /--trust ([0-9A-F:]+)/.exec(refused.stderr) ?? []
  const { code, stdout, stderr } = await runCommand([...args, '--trust', fingerprint], { env })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain('is of the vendor active-directory')

  const [{ source }] = parse(await readFile(file, 'utf8')).syncs
  expect(source.users).toMatchObject({
    base: SAMBA_BASE,
    filter: '(&(objectCategory=person)(objectClass=user)(!(isCriticalSystemObject=TRUE)))',
    disabled: 'delete',
    map: { external_id: 'objectGUID', email: 'mail' },
  })
  expect(source.groups).toMatchObject({
    filter: '(&(objectClass=group)(!(isCriticalSystemObject=TRUE)))',
    nested: 'flatten',
    map: { external_id: 'objectGUID', name: 'cn', members: 'member' },
  })
  expect(stdout).toMatch(/planned {4}[\d,]+ creations of users, [\d,]+ creations of groups/)
})
