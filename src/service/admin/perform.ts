import type { z } from 'zod'
import { DirsyncdError } from '../../base/errors.ts'
import { describeIssues } from '../resources/issues.ts'
import type { AdminDeps } from './deps.ts'
import { type AdminInput, type AdminOperation, adminOperations, type AdminOutput } from './operations.ts'

/** Throws `DirsyncdError`: `usage` for an invalid input, `id-unknown`, `secret-unavailable`. */
export type Perform = <O extends AdminOperation>(
  operation: O,
  input: AdminInput<O>,
) => Promise<AdminOutput<O>>

export function createPerform(deps: AdminDeps): Perform {
  return (operation, input) => performUntrusted(deps, operation, input) as never
}

/** As `Perform`, for an unchecked input. */
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
