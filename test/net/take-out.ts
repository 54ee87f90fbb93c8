import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { parseTable, type Protection } from '../protections/protection.ts'
import { readProtections } from '../protections/table.ts'
import { PatchedTree } from '../protections/tree.ts'

const run = promisify(execFile)

const WORKERS = 2

const DECIDER = /^(core\/(?!plan\/canary)|sync\/[^/]*$)/

/** `node test/net/take-out.ts [NAME …]`: removes one protection of the decider at a time and counts the worlds that differ. */
async function main(names: readonly string[]): Promise<void> {
  const own = parseTable(readFileSync(new URL('take-outs.diff', import.meta.url), 'utf8'))
  const ofDecider = [...readProtections(), ...own].filter(({ edits }) =>
    edits.some(({ file }) => DECIDER.test(file)),
  )
  const queue = ofDecider.filter(
    ({ name }) => names.length === 0 || names.some((each) => name.startsWith(each)),
  )
  await Promise.all(Array.from({ length: Math.min(WORKERS, queue.length) }, () => work(queue)))
}

async function work(queue: Protection[]): Promise<void> {
  await using tree = await PatchedTree.make()
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    await using _patch = await tree.remove(next)
    console.log(`${await countWorlds(tree)} worlds differ without ${next.name}`)
  }
}

async function countWorlds(tree: PatchedTree): Promise<number> {
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--project=net']
  try {
    await run(process.execPath, args, { cwd: tree.path, maxBuffer: 1e8 })
    return 0
  } catch (error) {
    const { stderr } = error as { readonly stderr: string }
    const [, count] = /(\d+) worlds differ/.exec(stderr) ?? []
    if (count === undefined) throw error
    return Number(count)
  }
}

await main(process.argv.slice(2))
