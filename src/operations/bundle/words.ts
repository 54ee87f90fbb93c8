import { readdir, readFile } from 'node:fs/promises'
import { STATUS_CODES } from 'node:http'
import { constants } from 'node:os'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..', '..')

/** Where the sentences of runs are written; the texts of other folders have names of people in their examples. */
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

/** May be somebody's id. */
const LONG_NUMBER = /^\d{4,}/

/** What a bundle says that lacks these words; it needs none of them itself. */
export const WORDS_UNREAD = "The program's own texts could not be read, so more words are hidden than usual."

/**
 * The words of the program's own texts, each in the case in which it is written there. They are read from the program's
 * files, so no list of them can be out of date.
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

/** The program runs from its sources, or from what the build made of them. */
function readCode(file: string): Promise<string> {
  return readFile(join(ROOT, file + (import.meta.filename.endsWith('.ts') ? '.ts' : '.js')), 'utf8')
}

/** The string literals of the code, but for those with an e-mail address, which are examples. */
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

/** Two texts are the same here whatever their case, their blanks and their punctuation. */
export function plainForm(text: string): string {
  return wordsIn(text.normalize('NFC').toLowerCase()).join(' ')
}
