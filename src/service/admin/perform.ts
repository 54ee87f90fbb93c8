import type { z } from 'zod'
import { DirsyncdError } from '../../errors.ts'
import type { AdminDeps } from './deps.ts'
import { type AdminInput, type AdminOperation, adminOperations, type AdminOutput } from './operations.ts'

/** Does one operation. Throws `DirsyncdError`: `usage` for an input that is not allowed, `id-unknown`. */
export type Perform = <O extends AdminOperation>(
  operation: O,
  input: AdminInput<O>,
) => Promise<AdminOutput<O>>

/** The operations in this process. */
export function createPerform(deps: AdminDeps): Perform {
  return (operation, input) => performUnchecked(deps, operation, input) as never
}

/** Like `Perform`, for an input from outside. */
export async function performUnchecked(
  deps: AdminDeps,
  operation: AdminOperation,
  input: unknown,
): Promise<unknown> {
  const { input: schema, run } = adminOperations[operation]
  const parsed = (schema as z.ZodType).safeParse(input)
  if (!parsed.success) throw new DirsyncdError('usage', faultsOf(parsed.error))
  return (run as (deps: AdminDeps, input: unknown) => Promise<unknown>)(deps, parsed.data)
}

/** `The email must be an e-mail address.` */
function faultsOf({ issues }: z.ZodError): string {
  return issues.map(({ path, message }) => `The ${wordsOf(path)} ${message}.`).join(' ')
}

/** `allowedDomains` as `allowed domain`: the place in a list is nothing that a person has written. */
function wordsOf(path: readonly PropertyKey[]): string {
  const inList = path.some((part) => typeof part === 'number')
  const words = String(path[0] ?? 'input').replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return inList ? words.replace(/s$/, '') : words
}
