import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type TempDir, tempDir } from '../support/temp.ts'
import type { TestFileResult } from './failure-reporter.ts'
import type { Protection } from './protection.ts'

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const TEST_TIMEOUT_MS = 300_000

/** The compiler checks only the files that a patch affects. */
const INCREMENTAL = ['--incremental', '--tsBuildInfoFile', 'node_modules.tsbuildinfo']

/** A copy of the project in which one patch at a time is applied. */
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
    const tree = new PatchedTree(dir)
    const types = await tree.typeErrors()
    if (types !== '') throw new Error(`the tree does not type-check as it is: ${types}`)
    return tree
  }

  get path(): string {
    return this.#dir.path
  }

  /** Throws when the patch does not apply. */
  async apply({
    file,
    find,
    replace,
  }: Pick<Protection, 'file' | 'find' | 'replace'>): Promise<AsyncDisposable> {
    const path = join(this.#dir.path, 'src', file)
    const text = await readFile(path, 'utf8')
    const count = text.split(find).length - 1
    if (count !== 1) throw new Error(`does not apply: its text occurs ${count} times in src/${file}`)
    await writeFile(
      path,
      text.replace(find, () => replace),
    )
    return { [Symbol.asyncDispose]: () => writeFile(path, text) }
  }

  /** Resolves with the errors of the compiler; '' without errors. */
  async typeErrors(): Promise<string> {
    try {
      await this.#node(['node_modules/typescript/bin/tsc', ...INCREMENTAL])
      return ''
    } catch (error) {
      return (error as { stdout?: string }).stdout ?? String(error)
    }
  }

  /** Runs one test file until its first failure. */
  async test({ test, only }: Pick<Protection, 'test' | 'only'>): Promise<TestFileResult> {
    const resultFile = join(this.#dir.path, 'result.json')
    await writeFile(resultFile, '')
    const filter = only === undefined ? [] : ['--testNamePattern', only]
    const reporter = `--reporter=${join(this.#dir.path, 'test/protections/failure-reporter.ts')}`
    const args = ['node_modules/vitest/vitest.mjs', 'run', `test/${test}`, '--bail=1', reporter, ...filter]
    // vitest exits with 1 when a test fails, which is expected here.
    const ended = await this.#node(args, { PROTECTIONS_RESULT: resultFile }).then(() => undefined, String)
    const text = await readFile(resultFile, 'utf8')
    if (text === '') throw new Error(`test/${test} wrote no result: ${ended}`)
    return JSON.parse(text) as TestFileResult
  }

  async #node(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<void> {
    await run(process.execPath, args, {
      cwd: this.#dir.path,
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
