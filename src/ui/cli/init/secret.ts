import { resolve } from 'node:path'
import type { Init } from './context.ts'

interface Asked {
  readonly key: 'password' | 'token'
  /** The option without its end, such as `--token`. */
  readonly flag: string
  readonly file: string | undefined
  readonly env: string | undefined
  readonly what: string
  readonly message: string
  /** The name of the new file. */
  readonly name: string
}

/** Where a secret is: in a file or a variable that an option names, else in a new file with what a person types. */
export async function askSecret(
  { answers, steps, files, say, place }: Init,
  { key, flag, file, env, what, message, name }: Asked,
): Promise<{ file: string } | { env: string }> {
  // What the options name was refused where somebody has typed another one.
  if (answers.isOpen(`${flag}-file`)) {
    if (file !== undefined) return { file: resolve(file) }
    if (env !== undefined) return { env }
  }
  const typed = await answers.secret({ flag: `${flag}-file`, what, message })
  // No header can carry the blanks that are pasted around a token.
  const text = key === 'token' ? typed.trim() : typed
  if (text !== text.trim()) say('  It begins or ends with a blank, which belongs to it.')
  const before = files.get(key)
  const written =
    before === undefined ? await steps.newSecret(name, text, place()) : { ...before, text: `${text}\n` }
  files.set(key, written)
  return { file: written.path }
}
