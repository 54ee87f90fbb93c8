import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { parseDocument } from 'yaml'
import { DirsyncdError, sentence } from '../../base/errors.ts'

/** From a YAML or JSON file, or from stdin (`-`): never from the command line. */
export async function readSecrets(path: string): Promise<unknown> {
  const content = await readText(path).catch((cause: unknown) => {
    throw new DirsyncdError('usage', `The secrets cannot be read: ${sentence(cause)}.`, { cause })
  })
  const document = parseDocument(content, { prettyErrors: false })
  const secrets: unknown = document.errors.length > 0 ? undefined : document.toJS()
  if (typeof secrets === 'object' && secrets !== null && !Array.isArray(secrets)) {
    // The service would drop it silently.
    if (!Object.hasOwn(secrets, '__proto__')) return secrets
    throw new DirsyncdError(
      'usage',
      `${path} must not use the name "__proto__"; give the secret another name.`,
    )
  }
  // The message shows nothing of the content.
  throw new DirsyncdError('usage', `${path} must hold names and values, such as "login: ada" on a line.`)
}

function readText(path: string): Promise<string> {
  return path === '-' ? text(process.stdin) : readFile(path, 'utf8')
}
