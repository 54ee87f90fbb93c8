import { existsSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vitest/config'

/** What the present decider imports of `src/store`: a module of the first folder that has it. */
const RAM = ['store/', '../reference/store/'].map((place) => new URL(place, import.meta.url))

/**
 * Gives the decider of `src/sync` the store in RAM in place of `src/store`, and nothing in place of apply: where it
 * imports `store/plans.ts`, it gets `test/reference/store/plans.ts`, and where it imports `store/holds.ts`,
 * `test/net/store/holds.ts`, which translates what the decider and the store tell each other.
 */
export function ramStore(): Plugin {
  return {
    // Vitest caches what a module imports, by the names of the plugins.
    name: `ram-store ${RAM.flatMap((folder) => readdirSync(folder)).join(' ')}`,
    enforce: 'pre',
    resolveId(imported, importer) {
      if (importer?.includes('/src/sync/') !== true) return undefined
      const name = imported.startsWith('./apply/') ? 'outside.ts' : /^\.\.\/store\/(.*)$/.exec(imported)?.[1]
      if (name === undefined) return undefined
      return RAM.map((place) => fileURLToPath(new URL(name, place))).find((file) => existsSync(file))
    },
  }
}
