import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { z } from 'zod'
import { BEGIN_CERTIFICATE, certificatesIn } from '../base/certificates.ts'
import { systemCode, whyUnreadable } from '../base/errors.ts'
import type { Fault } from '../base/yaml/document.ts'

interface Named {
  readonly path: Fault['path']
  readonly ca: string
}

const named = z.object({ ca: z.string().min(1) }).catch({ ca: '' })
const sync = z.object({
  source: z.object({ tls: named }).catch({ tls: { ca: '' } }),
  directory: named,
})
const withSyncs = z.object({ syncs: z.array(z.unknown()) })
const withChannels = z.object({ notifications: z.object({ channels: z.array(named) }) })

/** Includes the files of configurations that have faults elsewhere. */
function namedIn(raw: unknown): readonly Named[] {
  const syncs = withSyncs.safeParse(raw).data?.syncs ?? []
  const channels = withChannels.safeParse(raw).data?.notifications.channels ?? []
  const all = [
    ...syncs.flatMap((each, index): Named[] => {
      const { data } = sync.safeParse(each)
      return [
        { path: ['syncs', index, 'source', 'tls', 'ca'], ca: data?.source.tls.ca ?? '' },
        { path: ['syncs', index, 'directory', 'ca'], ca: data?.directory.ca ?? '' },
      ]
    }),
    ...channels.map(({ ca }, index): Named => ({ path: ['notifications', 'channels', index, 'ca'], ca })),
  ]
  return all.filter(({ ca }) => ca !== '')
}

export interface Authorities {
  readonly texts: ReadonlyMap<string, string>
  readonly faults: readonly Fault[]
}

/** A missing CA file is an error, never a connection without it. */
export async function readCaFiles(raw: unknown, folder: string): Promise<Authorities> {
  const texts = new Map<string, string>()
  const faults: Fault[] = []
  for (const { path, ca } of namedIn(raw)) {
    const file = resolve(folder, ca)
    try {
      const text = await readFile(file, 'utf8')
      texts.set(ca, text)
      const message = whyNoCertificates(text, file)
      if (message !== undefined) faults.push({ path, message })
    } catch (error) {
      faults.push({ path, message: whyNoCa(error, file) })
    }
  }
  return { texts, faults }
}

/** Node trusts nothing, silently, where a text has no certificate; of several certificates it skips broken ones. */
function whyNoCertificates(pem: string, file: string): string | undefined {
  const begun = pem.split(BEGIN_CERTIFICATE).length - 1
  const certificates = certificatesIn(pem)
  if (begun === 0) return `there is no PEM certificate in the CA file ${file}`
  if (certificates.length < begun)
    return `a certificate in the CA file ${file} is cut off; copy the whole file`
  for (const [index, certificate] of certificates.entries()) {
    if (!isCertificate(certificate))
      return `certificate ${index + 1} of ${begun} in the CA file ${file} is broken`
  }
  return undefined
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0
  } catch {
    return false
  }
}

function whyNoCa(error: unknown, file: string): string {
  const code = systemCode(error)
  if (code === 'ENOENT')
    return `the CA file ${file} does not exist; put the PEM file of the server's CA there`
  return `the CA file ${file} ${whyUnreadable(error)}`
}
