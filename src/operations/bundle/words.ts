import { readdir, readFile } from 'node:fs/promises'
import { STATUS_CODES } from 'node:http'
import { constants } from 'node:os'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..', '..')

/** The folders with the sentences of runs; texts of other folders have names in their examples. */
const FOLDERS = [
  'api/client',
  'api/contract',
  'base',
  'compose',
  'config',
  'core',
  'queue',
  'source',
  'store',
  'sync',
  'target',
]

const LONG_NUMBER = /^\d{4,}/

/** Needs none of these words itself. */
export const WORDS_UNREAD = "The program's own texts could not be read, so more words are hidden than usual."

/**
 * Words of the program's texts, each in its own case. Read from the program's files, so that no list can go out of
 * date.
 */
export async function programWords(): Promise<ReadonlySet<string>> {
  const words = new Set([...Object.keys(constants.errno), ...wordsIn(Object.values(STATUS_CODES).join(' '))])
  for (const file of await filesIn(FOLDERS)) {
    for (const text of textsIn(await readCode(file))) for (const word of wordsIn(text)) words.add(word)
  }
  return new Set([...words].filter((word) => !LONG_NUMBER.test(word)))
}

/** Relative to `src`, without the extension. */
async function filesIn(folders: readonly string[]): Promise<readonly string[]> {
  const lists = folders.map(async (folder) => {
    const names = await readdir(join(ROOT, folder), { recursive: true })
    return names
      .filter((name) => /\.(?:ts|js)$/.test(name) && !name.endsWith('.d.ts'))
      .map((name) => join(folder, name.slice(0, -'.ts'.length)))
  })
  return (await Promise.all(lists)).flat()
}

function readCode(file: string): Promise<string> {
  return readFile(join(ROOT, file + (import.meta.filename.endsWith('.ts') ? '.ts' : '.js')), 'utf8')
}

/** Without literals that contain an e-mail address: those are examples. */
function textsIn(code: string): readonly string[] {
  const literals =
    code.match(
      /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`/g,
    ) ?? []
  return literals
    .filter((literal) => !literal.startsWith('/') && !literal.includes('@'))
    .map((literal) => literal.replace(/\\.|\$\{[^}]*\}/g, ' '))
}

const WORD = /[\p{L}\p{M}\p{N}_]+/gu

export function wordsIn(text: string): readonly string[] {
  return text.match(WORD) ?? []
}

/** Ignores case, blanks and punctuation. */
export function plainForm(text: string): string {
  return wordsIn(text.normalize('NFC').toLowerCase()).join(' ')
}
