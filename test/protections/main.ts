import { parseArgs } from 'node:util'
import type { TestFileResult } from './failure-reporter.ts'
import type { Protection } from './protection.ts'
import { problemsOf, readProtections, readText } from './table.ts'
import { PatchedTree } from './tree.ts'

const WORKERS = 2

/** `npm run test:protections [-- NAME …]`: removes one protection at a time and checks that its test then fails. */
async function main(): Promise<void> {
  const { positionals } = parseArgs({ allowPositionals: true })
  const all = readProtections()
  const problems = problemsOf(all, readText)
  if (problems.length > 0) throw new Error(problems.join('\n'))
  const chosen = choose(all, positionals)
  await using stack = new AsyncDisposableStack()
  const trees = await Promise.all(Array.from({ length: WORKERS }, () => PatchedTree.make()))
  for (const tree of trees) stack.use(tree)
  const untyped = await refuseTypeErrors(trees[0]!, chosen)
  const unguarded = await checkAll(trees, chosen)
  const failed = new Set([...untyped, ...unguarded]).size
  console.log(`${chosen.length - failed} of ${chosen.length} protections are guarded by their test`)
  if (failed > 0) process.exitCode = 1
}

/** All protections, or those whose names start with one of the arguments. */
function choose(all: readonly Protection[], names: readonly string[]): readonly Protection[] {
  if (names.length === 0) return all
  const chosen = all.filter((each) => names.some((name) => each.name.startsWith(name)))
  if (chosen.length === 0) throw new Error(`no protection is called ${names.join(' or ')}`)
  return chosen
}

/** Reports the protections without which the program does not compile, because their tests would prove nothing. */
async function refuseTypeErrors(
  tree: PatchedTree,
  chosen: readonly Protection[],
): Promise<readonly Protection[]> {
  const errors = await tree.typeErrors()
  if (errors !== '') throw new Error(`the tree does not type-check as it is: ${errors}`)
  const found = await withTypeErrors(tree, chosen)
  for (const [{ name }, types] of found)
    console.log(`FAIL ${name}: the patched tree does not type-check: ${types}`)
  return found.map(([protection]) => protection)
}

/** Compiles many patches at once, as compiling takes longer than most tests, and halves their number to find errors. */
async function withTypeErrors(
  tree: PatchedTree,
  protections: readonly Protection[],
): Promise<readonly (readonly [Protection, string])[]> {
  if (protections.length === 0) return []
  const applied: Protection[] = []
  let errors: string
  {
    await using patches = new AsyncDisposableStack()
    for (const each of protections) {
      // One that edits the same lines as another comes later.
      const patch = await tree.remove(each).catch(() => undefined)
      if (patch === undefined) continue
      patches.use(patch)
      applied.push(each)
    }
    errors = await tree.typeErrors()
  }
  const later = await withTypeErrors(
    tree,
    protections.filter((each) => !applied.includes(each)),
  )
  if (errors === '') return later
  if (applied.length === 1) return [[applied[0]!, errors], ...later]
  const half = Math.ceil(applied.length / 2)
  return [
    ...(await withTypeErrors(tree, applied.slice(0, half))),
    ...(await withTypeErrors(tree, applied.slice(half))),
    ...later,
  ]
}

/** Runs each test file once unpatched, and then for each of its protections. Resolves with those not guarded. */
async function checkAll(
  trees: readonly PatchedTree[],
  chosen: readonly Protection[],
): Promise<readonly Protection[]> {
  const queue = [...Map.groupBy(chosen, ({ test }) => test)].toSorted((a, b) => cost(b) - cost(a))
  const worker = async (tree: PatchedTree) => {
    const failed: Protection[] = []
    for (let group = queue.shift(); group !== undefined; group = queue.shift()) {
      failed.push(...(await checkFile(tree, ...group)))
    }
    return failed
  }
  return (await Promise.all(trees.map(worker))).flat()
}

/** The longest come first, because one that comes last would keep a single worker busy. */
function cost([test, { length }]: readonly [string, readonly Protection[]]): number {
  return test.startsWith('unit/') ? length : 5 * length
}

async function checkFile(
  tree: PatchedTree,
  file: string,
  protections: readonly Protection[],
): Promise<readonly Protection[]> {
  const titles = protections.map(({ title }) => title)
  const unpatched = await tree.test(file, titles).catch((error) => error as Error)
  const failed: Protection[] = []
  for (const protection of protections) {
    const started = Date.now()
    const wrong = unpatchedProblem(unpatched, protection) ?? (await patchedProblem(tree, protection))
    const seconds = ((Date.now() - started) / 1000).toFixed(1)
    console.log(`${wrong === undefined ? 'ok  ' : 'FAIL'} ${protection.name} (${seconds} s)${wrong ?? ''}`)
    if (wrong !== undefined) failed.push(protection)
  }
  return failed
}

function unpatchedProblem(result: TestFileResult | Error, { test, title }: Protection): string | undefined {
  if (result instanceof Error) return `: ${result.message}`
  const { passed, failures } = result
  const own = failures.filter((failure) => failure.test.includes(title))
  if (own.length > 0) return `: test/${test} fails without the patch: ${describe(own)}`
  if (!passed.some((name) => name.includes(title))) {
    return `: test/${test} runs no test "${title}"; ${describe(failures)}`
  }
}

/** Resolves with what is wrong; undefined when the test fails by an assertion, as it should. */
async function patchedProblem(tree: PatchedTree, protection: Protection): Promise<string | undefined> {
  const { test, title } = protection
  try {
    await using _patch = await tree.remove(protection)
    const result = await tree.test(test, [title], 1)
    if (result.failures.length === 0)
      return `: "${title}" of test/${test} passes although the protection is removed`
    if (!result.failures.some(({ byAssertion }) => byAssertion))
      return `: no assertion fails: ${describe(result.failures)}`
  } catch (error) {
    return `: ${(error as Error).message}`
  }
}

function describe(failures: TestFileResult['failures']): string {
  return failures.map(({ test, message }) => `${test}: ${message}`).join('; ')
}

await main()
