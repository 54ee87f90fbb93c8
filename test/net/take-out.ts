import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { parseTable, type Protection } from '../protections/protection.ts'
import { readProtections } from '../protections/table.ts'
import { PatchedTree } from '../protections/tree.ts'

const run = promisify(execFile)

const WORKERS = 2

const DECIDER = /^(core\/(?!plan\/verification)|sync\/[^/]*$)/

/**
 * `node test/net/take-out.ts [NAME …]`: removes one protection of the decider at a time, of `take-outs.diff` and of
 * `test/protections/table`, and prints how many of the worlds differ then, and which.
 */
async function main(names: readonly string[]): Promise<void> {
  const own = parseTable(readFileSync(new URL('take-outs.diff', import.meta.url), 'utf8'))
  const queue = [...own, ...readProtections()].filter(
    ({ name, edits }) =>
      edits.some(({ file }) => DECIDER.test(file)) &&
      (names.length === 0 || names.some((each) => name.startsWith(each))),
  )
  await Promise.all(Array.from({ length: Math.min(WORKERS, queue.length) }, () => work(queue)))
}

async function work(queue: Protection[]): Promise<void> {
  await using tree = await PatchedTree.make()
  for (let next = queue.shift(); next !== undefined; next = queue.shift())
    console.log(`${next.name}: ${await worldsWithout(tree, next).catch(String)}`)
}

async function worldsWithout(tree: PatchedTree, protection: Protection): Promise<string> {
  await using _patch = await tree.remove(protection)
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--project=net']
  try {
    await run(process.execPath, args, { cwd: tree.path, maxBuffer: 1e8 })
    return '0 worlds differ'
  } catch (error) {
    const { stderr } = error as { readonly stderr: string }
    const [count] = /\d+ worlds differ/.exec(stderr) ?? []
    if (count === undefined) throw error
    const seeds = new Set(Array.from(stderr.matchAll(/world (\d+) \(/g), ([, seed]) => seed))
    return `${count}, such as ${[...seeds].slice(0, 4).join(', ')}`
  }
}

await main(process.argv.slice(2))
