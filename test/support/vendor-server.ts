import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { BindUser } from './slapd.ts'

const run = promisify(execFile)

/** An LDAP server other than OpenLDAP. Disposing it stops the server and deletes its data. */
export interface VendorServer extends AsyncDisposable {
  readonly host: string
  readonly port: number
  /** With the IP address. */
  readonly url: string
  /** With the host name of the certificate, for StartTLS. */
  readonly namedUrl: string
  readonly ldapsUrl: string
  /** PEM text of the CA. */
  readonly ca: string
  readonly base: string
  readonly admin: BindUser
  /** Sees everything, without limits. */
  readonly reader: BindUser
  /** Runs ldapmodify as the administrator; LDIF with `changetype`. */
  modify(changes: string): Promise<void>
}

export async function modifyOnline(
  directory: string,
  url: string,
  { dn, password }: BindUser,
  changes: string,
): Promise<void> {
  const path = join(directory, `changes-${process.hrtime.bigint()}.ldif`)
  await writeFile(path, changes)
  await run('ldapmodify', ['-x', '-H', url, '-D', dn, '-w', password, '-f', path])
}

/** Resolves when the port accepts a connection, otherwise rejects. */
export async function accepts(host: string, port: number): Promise<void> {
  const socket = connect({ host, port })
  try {
    await once(socket, 'connect')
  } finally {
    socket.destroy()
  }
}
