import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface Certificates {
  readonly caFile: string
  readonly certFile: string
  readonly keyFile: string
}

/** A CA of its own and a server certificate for one host name, made by the openssl command in this directory. */
export async function makeCertificates(directory: string, host: string): Promise<Certificates> {
  const [caFile, caKey, certFile, keyFile, requestFile, extensionFile] = [
    'ca.pem',
    'ca.key',
    'server.pem',
    'server.key',
    'server.csr',
    'server.ext',
  ].map((name) => join(directory, name)) as [string, string, string, string, string, string]
  const newKey = ['-newkey', 'rsa:2048', '-nodes']
  await openssl(
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    caKey,
    '-out',
    caFile,
    '-days',
    '2',
    '-subj',
    '/O=dirsyncd tests/CN=Test CA',
  )
  await openssl('req', ...newKey, '-keyout', keyFile, '-out', requestFile, '-subj', `/CN=${host}`)
  await writeFile(extensionFile, `subjectAltName=DNS:${host}\nextendedKeyUsage=serverAuth\n`)
  const sign = ['-CA', caFile, '-CAkey', caKey, '-CAcreateserial', '-extfile', extensionFile, '-days', '2']
  await openssl('x509', '-req', '-in', requestFile, '-out', certFile, ...sign)
  return { caFile, certFile, keyFile }
}

async function openssl(...args: string[]): Promise<void> {
  await run('openssl', args)
}
