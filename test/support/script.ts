import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Runs lines of a shell, in which `dirsyncd` is this checkout's, and resolves with what they print. */
export async function runScript(dir: string, lines: string): Promise<string> {
  const env = { ...process.env, PATH: `${ROOT}:${process.env['PATH'] ?? ''}` }
  const { stdout } = await promisify(execFile)('bash', ['-euc', lines], { cwd: dir, env })
  return stdout
}
