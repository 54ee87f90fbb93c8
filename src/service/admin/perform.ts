import type { z } from 'zod'
import { DirsyncdError } from '../../errors.ts'
import type { AdminDeps } from './deps.ts'
import { type AdminInput, type AdminOperation, adminOperations, type AdminOutput } from './operations.ts'

/** Runs one operation. Throws `DirsyncdError`: `usage` for an invalid input, `id-unknown`. */
export type Perform = <O extends AdminOperation>(
  operation: O,
  input: AdminInput<O>,
) => Promise<AdminOutput<O>>

/** Runs the operations in this process. */
export function createPerform(deps: AdminDeps): Perform {
  return (operation, input) => performUntrusted(deps, operation, input) as never
}

/** Like `Perform`, for an input that may be anything. */
export async function performUntrusted(
  deps: AdminDeps,
  operation: AdminOperation,
  input: unknown,
): Promise<unknown> {
  const { input: schema, run } = adminOperations[operation]
  const parsed = (schema as z.ZodType).safeParse(input)
  if (!parsed.success) throw new DirsyncdError('usage', describeIssues(parsed.error))
  return (run as (deps: AdminDeps, input: unknown) => Promise<unknown>)(deps, parsed.data)
}

/** `The email must be an e-mail address.` */
function describeIssues({ issues }: z.ZodError): string {
  return issues.map(({ path, message }) => `The ${wordsOf(path)} ${message}.`).join(' ')
}

/** `allowedDomains[1]` as `allowed domain`: the index means nothing to the user of a command. */
function wordsOf(path: readonly PropertyKey[]): string {
  const inList = path.some((part) => typeof part === 'number')
  const words = String(path[0] ?? 'input').replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return inList ? words.replace(/s$/, '') : words
}
