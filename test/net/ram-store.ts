import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vitest/config'

const RAM = new URL('../reference/store/', import.meta.url)

/**
 * Gives the decider of `src/sync` the store in RAM in place of `src/store`, and nothing in place of apply: where it
 * imports `store/plans.ts`, it gets `test/reference/store/plans.ts`.
 */
export function ramStore(): Plugin {
  return {
    name: 'ram-store',
    enforce: 'pre',
    resolveId(imported, importer) {
      if (importer?.includes('/src/sync/') !== true) return undefined
      const name = imported.startsWith('./apply/') ? 'outside.ts' : /^\.\.\/store\/(.*)$/.exec(imported)?.[1]
      const file = name === undefined ? undefined : fileURLToPath(new URL(name, RAM))
      return file !== undefined && existsSync(file) ? file : undefined
    },
  }
}
