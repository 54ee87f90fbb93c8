import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type TempDir, tempDir } from '../support/temp.ts'
import type { TestFileResult } from './failure-reporter.ts'
import { edited, type Protection } from './protection.ts'

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const TEST_TIMEOUT_MS = 600_000

/** A copy of the project in which protections are removed and put back. */
export class PatchedTree implements AsyncDisposable {
  readonly #dir: TempDir

  private constructor(dir: TempDir) {
    this.#dir = dir
  }

  static async make(): Promise<PatchedTree> {
    const dir = await tempDir()
    const listed = await run('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
      cwd: ROOT,
      maxBuffer: 1e8,
    })
    for (const file of listed.stdout.split('\0').filter(Boolean)) {
      await mkdir(dirname(join(dir.path, file)), { recursive: true })
      // git also lists files that are deleted in the working tree.
      await cp(join(ROOT, file), join(dir.path, file)).catch(() => undefined)
    }
    await symlink(join(ROOT, 'node_modules'), join(dir.path, 'node_modules'))
    return new PatchedTree(dir)
  }

  get path(): string {
    return this.#dir.path
  }

  /** Removes a protection until the result is disposed. Throws, and changes nothing, when it does not apply. */
  async remove({ edits }: Protection): Promise<AsyncDisposable> {
    await using stack = new AsyncDisposableStack()
    for (const edit of edits) {
      const path = join(this.path, 'src', edit.file)
      const text = await readFile(path, 'utf8')
      await writeFile(path, edited(text, edit))
      stack.defer(() => writeFile(path, text))
    }
    return stack.move()
  }

  /** Resolves with the errors of the compiler; '' without errors. */
  async typeErrors(): Promise<string> {
    try {
      await this.#node(['node_modules/typescript/bin/tsc'])
      return ''
    } catch (error) {
      return (error as { stdout?: string }).stdout ?? String(error)
    }
  }

  /** Runs the tests with these titles, and stops after `bail` failures where it is given. */
  async test(file: string, titles: readonly string[], bail = 0): Promise<TestFileResult> {
    const resultFile = join(this.path, 'result.json')
    await writeFile(resultFile, '')
    const args = [
      'node_modules/vitest/vitest.mjs',
      'run',
      `test/${file}`,
      `--project=${file.startsWith('unit/') ? 'unit' : 'servers'}`,
      `--testNamePattern=${titles.map((title) => RegExp.escape(title)).join('|')}`,
      `--bail=${bail}`,
      `--reporter=${join(this.path, 'test/protections/failure-reporter.ts')}`,
    ]
    // vitest exits with 1 when a test fails, which is expected here.
    const ended = await this.#node(args, { PROTECTIONS_RESULT: resultFile }).then(() => undefined, String)
    const text = await readFile(resultFile, 'utf8')
    if (text === '') throw new Error(`test/${file} wrote no result: ${ended}`)
    return JSON.parse(text) as TestFileResult
  }

  async #node(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<void> {
    await run(process.execPath, args, {
      cwd: this.path,
      env: { ...process.env, ...env },
      timeout: TEST_TIMEOUT_MS,
      killSignal: 'SIGKILL',
      maxBuffer: 1e8,
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#dir[Symbol.asyncDispose]()
  }
}
