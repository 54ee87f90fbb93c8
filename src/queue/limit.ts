import { hash } from 'node:crypto'
import type { DirectoryConfig } from '../config/config.ts'
import { createRequestBudget, type RequestBudget } from './request-budget.ts'

type Limit = (signal: AbortSignal | undefined) => Promise<void>

/** Shared by all syncs and processes with the same origin and token. The first request fails without the token. */
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
