import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { edited, parseTable, type Protection } from './protection.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const TABLE = join(ROOT, 'test/protections/table')

/** More would be a second copy of the sources. */
const MOST = 300

/** The protections of the files in `table`. */
export function readProtections(): readonly Protection[] {
  const files = readdirSync(TABLE).toSorted()
  return files.flatMap((file) => parseTable(readFileSync(join(TABLE, file), 'utf8')))
}

/** Returns the text of a file of the project, or undefined where there is none. */
export type ReadText = (path: string) => string | undefined

export const readText: ReadText = (path) =>
  existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path), 'utf8') : undefined

/** Returns a sentence for each protection that does not fit the sources and tests. */
export function problemsOf(protections: readonly Protection[], read: ReadText): readonly string[] {
  const counts = Map.groupBy(protections, ({ name }) => name)
  return [
    ...(protections.length > MOST
      ? [`there are ${protections.length} protections, and ${MOST} at most`]
      : []),
    ...[...counts].flatMap(([name, { length }]) =>
      length > 1 ? [`${name}: the name occurs ${length} times`] : [],
    ),
    ...protections.flatMap((each) =>
      [editProblem(each, read), testProblem(each, read)].flatMap((problem) =>
        problem === undefined ? [] : [`${each.name}: ${problem}`],
      ),
    ),
  ]
}

function editProblem({ edits }: Protection, read: ReadText): string | undefined {
  const texts = new Map<string, string>()
  try {
    for (const edit of edits) {
      const text = texts.get(edit.file) ?? read(`src/${edit.file}`)
      if (text === undefined) return `there is no src/${edit.file}`
      texts.set(edit.file, edited(text, edit))
    }
  } catch (error) {
    return (error as Error).message
  }
}

/** A title may stand in a module of the tests that the file imports. */
function testProblem({ test, title }: Protection, read: ReadText): string | undefined {
  const path = `test/${test}`
  const text = read(path)
  if (text === undefined) return `there is no ${path}`
  const imported = [...text.matchAll(/from '(\.[^']+)'/g)].map((found) =>
    posix.join(posix.dirname(path), found[1]!),
  )
  const texts = [text, ...imported.filter((each) => each.startsWith('test/')).map(read)]
  return texts.some((each) => each?.includes(title)) ? undefined : `${path} has no title "${title}"`
}
