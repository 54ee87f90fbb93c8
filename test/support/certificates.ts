import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Made much faster than one for RSA. */
const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

export interface Certificates {
  readonly caFile: string
  readonly certFile: string
  readonly keyFile: string
}

/** Creates a new CA and a server certificate for one host name or IP address with openssl, in this directory. */
export async function makeCertificates(directory: string, host: string): Promise<Certificates> {
  const [caFile, caKey, certFile, keyFile, requestFile, extensionFile] = [
    'ca.pem',
    'ca.key',
    'server.pem',
    'server.key',
    'server.csr',
    'server.ext',
  ].map((name) => join(directory, name)) as [string, string, string, string, string, string]
  await openssl(
    'req',
    '-x509',
    ...NEW_KEY,
    '-keyout',
    caKey,
    '-out',
    caFile,
    '-days',
    '2',
    '-subj',
    '/O=dirsyncd tests/CN=Test CA',
  )
  await openssl('req', ...NEW_KEY, '-keyout', keyFile, '-out', requestFile, '-subj', `/CN=${host}`)
  await writeFile(
    extensionFile,
    `subjectAltName=${isIP(host) === 0 ? 'DNS' : 'IP'}:${host}\nextendedKeyUsage=serverAuth\n`,
  )
  const sign = ['-CA', caFile, '-CAkey', caKey, '-CAcreateserial', '-extfile', extensionFile, '-days', '2']
  await openssl('x509', '-req', '-in', requestFile, '-out', certFile, ...sign)
  return { caFile, certFile, keyFile }
}

/** PEM texts of a client certificate and its key, signed by the CA of `makeCertificates` in the same directory. */
export async function makeClientCertificate(
  directory: string,
  subject: string,
): Promise<{ readonly certificate: string; readonly key: string }> {
  const at = (name: string) => join(directory, name)
  const [certFile, keyFile, request] = [at('client.pem'), at('client.key'), at('client.csr')]
  await openssl('req', ...NEW_KEY, '-keyout', keyFile, '-out', request, '-subj', subject)
  const ca = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial', '-days', '2']
  await openssl('x509', '-req', '-in', request, '-out', certFile, ...ca)
  return { certificate: await readFile(certFile, 'utf8'), key: await readFile(keyFile, 'utf8') }
}

async function openssl(...args: string[]): Promise<void> {
  await run('openssl', args)
}
