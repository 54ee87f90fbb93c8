import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import type { RE2JS } from 're2js'
import { fileReason } from '../../base/errors.ts'
import { incomplete } from '../incomplete.ts'

/** Throws `source-incomplete` unless `<path>.sha256` beside the file has this digest, in hexadecimal. */
export async function proveDigest(path: string, name: string, digest: string): Promise<void> {
  const wanted = digestIn(await readBeside(path, '.sha256'), basename(path))
  if (wanted === undefined) {
    throw incomplete(`${name}.sha256 has no SHA-256 of ${name} in it, as sha256sum writes it`)
  }
  if (wanted !== digest) {
    throw incomplete(`${name} does not have the digest in ${name}.sha256; was it cut off or written again?`)
  }
}

/** The digest of a file in the output of sha256sum: the one with its name, or the only one. */
function digestIn(text: string, file: string): string | undefined {
  const digests = new Map<string, string>()
  for (const line of text.split(/\r?\n/)) {
    const match = /^\\?([0-9a-f]{64})(?:\s+\*?(.+))?$/i.exec(line.trim()) ?? tagged(line)
    // Windows writes paths with backslashes.
    if (match?.[1] !== undefined)
      digests.set((match[2] ?? '').replace(/^.*[/\\]/, ''), match[1].toLowerCase())
  }
  return digests.get(file) ?? (digests.size === 1 ? [...digests.values()][0] : undefined)
}

/** The form of BSD, and of `sha256sum --tag`. */
function tagged(line: string): readonly (string | undefined)[] | undefined {
  const match = /^SHA256 \((.+)\) = ([0-9a-f]{64})$/i.exec(line.trim())
  return match === null ? undefined : [match[0], match[2], match[1]]
}

/** Throws `source-incomplete` unless `<path>.rows` begins with this number, as `wc -l` would write it. */
export async function proveRows(path: string, name: string, rows: number): Promise<void> {
  const wanted = /^\s*(\d+)(?:\s|$)/.exec(await readBeside(path, '.rows'))?.[1]
  if (wanted === undefined) throw incomplete(`${name}.rows does not begin with a number of rows`)
  compareRows(rows, wanted, name, `${name}.rows`)
}

/** Throws `source-incomplete` unless this line is the trailer, with the right number of rows where it has one. */
export function proveTrailer(line: string | undefined, pattern: RE2JS, rows: number, name: string): void {
  const matcher = pattern.matcher(line ?? '')
  if (line === undefined || !matcher.find()) {
    throw incomplete(
      `${name} does not end with the trailer (${pattern.pattern()}), so it may have been cut off`,
    )
  }
  const count = pattern.groupCount() === 0 ? null : matcher.group(1)
  if (count === null) return
  if (!/^\s*\d+\s*$/.test(count)) {
    const what = `the trailer of ${name} has "${count}" where the first group of trailer.pattern takes the number of rows`
    throw incomplete(`${what}; is the pattern right?`)
  }
  compareRows(rows, count.trim(), name, 'its trailer')
}

/** `wanted` is in decimal digits. */
function compareRows(rows: number, wanted: string, name: string, who: string): void {
  if (BigInt(rows) === BigInt(wanted)) return
  throw incomplete(`${name} has ${rows} rows, and ${who} says ${wanted}, so it may have been cut off`)
}

async function readBeside(path: string, ending: string): Promise<string> {
  try {
    const bytes = await readFile(`${path}${ending}`)
    // PowerShell's redirection writes UTF-16.
    return new TextDecoder(bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8').decode(bytes)
  } catch (cause) {
    throw incomplete(
      `${path}${ending}, which has to be beside the file, cannot be read: ${fileReason(cause)}`,
    )
  }
}
