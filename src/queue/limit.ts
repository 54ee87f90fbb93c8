import { hash } from 'node:crypto'
import type { DirectoryConfig } from '../config/config.ts'
import { createRequestBudget, type RequestBudget } from './request-budget.ts'

type Limit = (signal: AbortSignal | undefined) => Promise<void>

/**
 * The request budget of a directory's origin and token, shared by all syncs and processes that use both. The first
 * request reads the token, and fails when that fails.
 */
export function createLimit(
  directory: DirectoryConfig,
  stores: Parameters<typeof createRequestBudget>[0],
): Limit | undefined {
  const { rateLimit, token, baseUrl } = directory
  if (rateLimit === undefined) return undefined
  const never = new AbortController().signal
  let budget: Promise<RequestBudget> | undefined

  async function open(rate: NonNullable<DirectoryConfig['rateLimit']>) {
    const key = `${new URL(baseUrl).origin} ${hash('sha256', await token.read()).slice(0, 16)}`
    return createRequestBudget(stores, key, rate)
  }

  return async (signal) => {
    budget ??= open(rateLimit)
    try {
      await (
        await budget
      )(signal ?? never)
    } catch (error) {
      budget = undefined
      throw error
    }
  }
}
