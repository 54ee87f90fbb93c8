import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { program } from './packages.ts'
import { startServer } from './server-process.ts'
import { tempDir } from './temp.ts'

/** The URL that accepts SAML responses (assertion consumer service) on this port. */
export function mellonAcsUrl(port: number): string {
  return `http://127.0.0.1:${port}/mellon/postResponse`
}

export interface MellonOptions {
  readonly port: number
  readonly entityId: string
  /** XML metadata of the identity provider. */
  readonly metadata: string
}

/** What the protected page shows about the user who has logged in. */
export interface MellonPage {
  readonly path: string
  readonly nameId: string
  readonly attributes: Readonly<Record<string, string>>
}

export interface Mellon {
  readonly acsUrl: string
  /** Posts a SAML response as a browser does and opens the protected page; `undefined` when the response is refused. */
  login(samlResponse: string, relayState?: string): Promise<MellonPage | undefined>
  /** Requests the protected page without a login. Resolves with the URL of the redirect. */
  requestWithoutLogin(): Promise<string | null>
  /** The text that the server has logged since the last call. */
  newLog(): Promise<string>
  close(): Promise<void>
}

const ATTRIBUTES = ['email', 'first_name', 'last_name', 'name']

/** One value per line in base64, because Apache's `echo` has no other encoding that keeps every character. */
const PAGE = ['NAME_ID', ...ATTRIBUTES]
  .map((name) => `<!--#echo encoding="base64" var="MELLON_${name}" -->\n`)
  .join('')

/** Starts Apache with mod_auth_mellon, a SAML service provider based on lasso and xmlsec. */
export async function startMellon(options: MellonOptions): Promise<Mellon> {
  const temp = await tempDir()
  const { path: dir } = temp
  // When root starts Apache, its workers run as nobody.
  await chmod(dir, 0o755)
  await mkdir(join(dir, 'pages', 'private'), { recursive: true })
  for (const page of ['default', 'report']) await writeFile(join(dir, 'pages', 'private', page), PAGE)
  await writeFile(join(dir, 'idp.xml'), options.metadata)
  await writeFile(join(dir, 'sp.xml'), ownMetadata(options))
  await writeFile(join(dir, 'apache.conf'), configuration(dir, options.port))
  const origin = `http://127.0.0.1:${options.port}`
  const server = await startServer({
    command: program('apache2'),
    args: ['-d', dir, '-f', join(dir, 'apache.conf'), '-DFOREGROUND'],
    ready: () => fetch(origin),
    dir,
  })
  let read = 0
  return {
    acsUrl: mellonAcsUrl(options.port),
    login: (samlResponse, relayState) => login(origin, samlResponse, relayState),
    async requestWithoutLogin() {
      const answer = await fetch(`${origin}/private/default`, { redirect: 'manual' })
      return answer.headers.get('location')
    },
    async newLog() {
      const log = await readFile(join(dir, 'error.log'), 'utf8')
      const lines = log.slice(read)
      read = log.length
      return lines
    },
    async close() {
      await server.stop()
      await temp[Symbol.asyncDispose]()
    },
  }
}

function ownMetadata({ port, entityId }: MellonOptions): string {
  return `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${entityId}">
  <SPSSODescriptor AuthnRequestsSigned="false" WantAssertionsSigned="true"
      protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
    <AssertionConsumerService index="0" isDefault="true" Location="${mellonAcsUrl(port)}"
        Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"/>
  </SPSSODescriptor>
</EntityDescriptor>
`
}

const MODULES = ['mpm_event', 'authn_core', 'authz_core', 'authz_user', 'include', 'auth_mellon']

function configuration(dir: string, port: number): string {
  const modules = dirname(program('mod_auth_mellon.so'))
  return `ServerName 127.0.0.1:${port}
Listen 127.0.0.1:${port}
PidFile ${dir}/pid
DefaultRuntimeDir ${dir}
Mutex file:${dir} default
ErrorLog ${dir}/error.log
LogLevel error
User #65534
Group #65534
${MODULES.map((name) => `LoadModule ${name}_module ${modules}/mod_${name}.so`).join('\n')}
MellonLockFile ${dir}/mellon.lock
DocumentRoot ${dir}/pages
<Location />
  MellonEnable info
  MellonSPMetadataFile ${dir}/sp.xml
  MellonIdPMetadataFile ${dir}/idp.xml
  MellonEndpointPath /mellon
  MellonDefaultLoginPath /private/default
</Location>
<Location /private>
  AuthType Mellon
  MellonEnable auth
  Require valid-user
  Options +Includes
  SetOutputFilter INCLUDES
</Location>
`
}

async function login(
  origin: string,
  samlResponse: string,
  relayState: string | undefined,
): Promise<MellonPage | undefined> {
  const body = new URLSearchParams({ SAMLResponse: samlResponse })
  if (relayState !== undefined) body.set('RelayState', relayState)
  const url = `${origin}/mellon/postResponse`
  const answer = await fetch(url, { method: 'POST', body, redirect: 'manual' })
  await answer.arrayBuffer()
  if (answer.status >= 500) throw new Error(`mod_auth_mellon failed with ${answer.status}`)
  if (answer.status !== 303) return undefined
  const { pathname, search } = new URL(answer.headers.get('location') ?? '', origin)
  const cookie = answer.headers.getSetCookie().map((line) => line.split(';', 1)[0])
  const page = await fetch(`${origin}${pathname}`, {
    headers: { cookie: cookie.join('; ') },
    redirect: 'manual',
  })
  const text = await page.text()
  if (page.status !== 200) throw new Error(`the page answered ${page.status} after the login`)
  return { path: `${pathname}${search}`, ...readPage(text) }
}

function readPage(text: string): Omit<MellonPage, 'path'> {
  const [nameId = '', ...values] = text.split('\n').map((line) => Buffer.from(line, 'base64').toString())
  const attributes = ATTRIBUTES.map((name, index) => [name, unescape(values[index] ?? '')])
  return { nameId, attributes: Object.fromEntries(attributes) }
}

/** The module leaves XML entities in the attribute values. */
function unescape(text: string): string {
  const characters: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"' }
  return text.replaceAll(/&(lt|gt|amp|quot);/g, (_entity, name: string) => characters[name]!)
}
