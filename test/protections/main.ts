import { parseArgs } from 'node:util'
import type { TestFileResult } from './failure-reporter.ts'
import type { Protection } from './protection.ts'
import { PROTECTIONS } from './table/index.ts'
import { PatchedTree } from './tree.ts'

const WORKERS = 2

/** `npm run test:protections [-- NAME …]`: removes one protection at a time and checks that its test then fails. */
async function main(): Promise<void> {
  const { positionals } = parseArgs({ allowPositionals: true })
  const chosen = choose(positionals)
  const failed = await checkAll(chosen)
  console.log(`${chosen.length - failed} of ${chosen.length} protections are guarded by their test`)
  if (failed > 0) process.exitCode = 1
}

/** All protections, or those whose names start with one of the arguments. */
function choose(names: readonly string[]): readonly Protection[] {
  const duplicates = PROTECTIONS.filter(
    ({ name }, index) => PROTECTIONS.findIndex((p) => p.name === name) !== index,
  )
  if (duplicates.length > 0) throw new Error(`two protections are called ${duplicates[0]?.name}`)
  if (names.length === 0) return PROTECTIONS
  const chosen = PROTECTIONS.filter((each) => names.some((name) => each.name.startsWith(name)))
  if (chosen.length === 0) throw new Error(`no protection is called ${names.join(' or ')}`)
  return chosen
}

/** Groups the protections by test file, so that each file runs only once unpatched. Resolves with the failure count. */
async function checkAll(chosen: readonly Protection[]): Promise<number> {
  const groups = [...Map.groupBy(chosen, (each) => `${each.test}\n${each.only ?? ''}`).values()]
  const worker = async () => {
    await using tree = await PatchedTree.make()
    let failed = 0
    for (let group = groups.shift(); group !== undefined; group = groups.shift()) {
      failed += await checkGroup(tree, group)
    }
    return failed
  }
  const counts = await Promise.all(Array.from({ length: Math.min(WORKERS, groups.length) }, worker))
  return counts.reduce((sum, count) => sum + count, 0)
}

async function checkGroup(tree: PatchedTree, group: readonly Protection[]): Promise<number> {
  const unpatched = await tree.test(group[0]!)
  const problem = unpatched.passed === 0 ? 'runs no test' : describe(unpatched)
  let failed = 0
  for (const protection of group) {
    const started = Date.now()
    const wrong =
      problem === ''
        ? await checkOne(tree, protection)
        : `test/${protection.test} without the patch: ${problem}`
    const seconds = ((Date.now() - started) / 1000).toFixed(1)
    console.log(`${wrong === '' ? 'ok  ' : 'FAIL'} ${protection.name} (${seconds} s)${wrong && `: ${wrong}`}`)
    if (wrong !== '') failed += 1
  }
  return failed
}

/** Resolves with what is wrong; '' when the test fails by an assertion, as it should. */
async function checkOne(tree: PatchedTree, protection: Protection): Promise<string> {
  try {
    await using _patch = await tree.apply(protection)
    const types = await tree.typeErrors()
    if (types !== '') return `the patched tree does not type-check: ${types}`
    const result = await tree.test(protection)
    if (result.failures.length === 0)
      return `test/${protection.test} passes although the protection is removed`
    if (!result.failures.some(({ byAssertion }) => byAssertion))
      return `no assertion fails: ${describe(result)}`
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

function describe({ failures }: TestFileResult): string {
  return failures.map(({ test, message }) => `${test}: ${message}`).join('; ')
}

await main()
