import { resolve } from 'node:path'
import type { Init } from './context.ts'

interface Asked {
  readonly key: 'password' | 'token'
  /** Without its suffix, such as `--token`. */
  readonly flag: string
  readonly file: string | undefined
  readonly env: string | undefined
  readonly what: string
  readonly message: string
  readonly name: string
}

/** A file or variable that an option names, else a new file with what the operator types. */
export async function askSecret(
  { answers, steps, files, say, place }: Init,
  { key, flag, file, env, what, message, name }: Asked,
): Promise<{ file: string } | { env: string }> {
  // The secret of the options was refused where another one was typed.
  if (answers.isOpen(`${flag}-file`)) {
    if (file !== undefined) return { file: resolve(file) }
    if (env !== undefined) return { env }
  }
  const typed = await answers.secret({ flag: `${flag}-file`, what, message })
  // An HTTP header cannot carry the blanks around a pasted token.
  const text = key === 'token' ? typed.trim() : typed
  if (text !== text.trim()) say('  It begins or ends with a blank, which belongs to it.')
  const before = files.get(key)
  const written =
    before === undefined ? await steps.newSecret(name, text, place()) : { ...before, text: `${text}\n` }
  files.set(key, written)
  return { file: written.path }
}
