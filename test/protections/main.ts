import { parseArgs } from 'node:util'
import type { Seen } from './failure-reporter.ts'
import type { Protection } from './protection.ts'
import { PROTECTIONS } from './table/index.ts'
import { PatchedTree } from './tree.ts'

const LANES = 2

/** `npm run test:protections [-- NAME …]`: takes out one protection after the other and sees its test fail. */
async function main(): Promise<void> {
  const { positionals } = parseArgs({ allowPositionals: true })
  const chosen = choose(positionals)
  const failed = await inLanes(chosen)
  console.log(`${chosen.length - failed} of ${chosen.length} protections are guarded by their test`)
  if (failed > 0) process.exitCode = 1
}

/** All, or those that are named: whole, or the beginning of several. */
function choose(names: readonly string[]): readonly Protection[] {
  const twice = PROTECTIONS.filter(
    ({ name }, index) => PROTECTIONS.findIndex((p) => p.name === name) !== index,
  )
  if (twice.length > 0) throw new Error(`two protections are called ${twice[0]?.name}`)
  if (names.length === 0) return PROTECTIONS
  const chosen = PROTECTIONS.filter((each) => names.some((name) => each.name.startsWith(name)))
  if (chosen.length === 0) throw new Error(`no protection is called ${names.join(' or ')}`)
  return chosen
}

/** Protections of one test file stay together, so that the file runs only once without a patch. */
async function inLanes(chosen: readonly Protection[]): Promise<number> {
  const files = [...Map.groupBy(chosen, (each) => `${each.test}\n${each.only ?? ''}`).values()]
  const lane = async () => {
    await using tree = await PatchedTree.make()
    let failed = 0
    for (let group = files.shift(); group !== undefined; group = files.shift()) {
      failed += await tryGroup(tree, group)
    }
    return failed
  }
  const counts = await Promise.all(Array.from({ length: Math.min(LANES, files.length) }, lane))
  return counts.reduce((sum, count) => sum + count, 0)
}

async function tryGroup(tree: PatchedTree, group: readonly Protection[]): Promise<number> {
  const unpatched = await tree.test(group[0]!)
  const excuse = unpatched.passed === 0 ? 'runs no test' : describe(unpatched)
  let failed = 0
  for (const protection of group) {
    const started = Date.now()
    const wrong =
      excuse === '' ? await tryOne(tree, protection) : `test/${protection.test} without the patch: ${excuse}`
    const seconds = ((Date.now() - started) / 1000).toFixed(1)
    console.log(`${wrong === '' ? 'ok  ' : 'FAIL'} ${protection.name} (${seconds} s)${wrong && `: ${wrong}`}`)
    if (wrong !== '') failed += 1
  }
  return failed
}

/** Resolves with what is wrong; '' when the test noticed. */
async function tryOne(tree: PatchedTree, protection: Protection): Promise<string> {
  try {
    await using _patch = await tree.apply(protection)
    const types = await tree.typeErrors()
    if (types !== '') return `the patched tree does not type-check: ${types}`
    const seen = await tree.test(protection)
    if (seen.failures.length === 0) return `test/${protection.test} passes without it`
    if (!seen.failures.some(({ byAssertion }) => byAssertion)) return `no assertion fails: ${describe(seen)}`
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

function describe({ failures }: Seen): string {
  return failures.map(({ test, message }) => `${test}: ${message}`).join('; ')
}

await main()
