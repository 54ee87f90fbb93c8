import { flatOptions } from '../base/yaml/options.ts'
import type { Options } from '../core/plan/configuration.ts'
import type { SyncConfig } from './config.ts'

/** Options of a source that change neither scope nor mapping: connection, time limits, proofs of completeness. */
const WITHOUT_EFFECT = new RegExp(
  '^(url|tls|timeouts|bind|pageSize|referrals|allowedDomains|settleMs|watch|badRows' +
    '|timeoutMs|maxOutput|maxEntries|folder|secretNames)(\\.|$)|\\.(maxAgeMs|rows|sha256)$',
)

/** Options that change scope or mapping, by key: many entries may change without any change in the source. */
export function decisiveOptions({ source, directory, entries, policy }: SyncConfig): Options {
  const { baseUrl, organizationId, directoryId, allowedDomains, dropBadEmails, membership, emails } =
    directory
  const fromSource = Object.entries(flatOptions(source.options)).filter(([key]) => !WITHOUT_EFFECT.test(key))
  return {
    ...Object.fromEntries(fromSource),
    ...flatOptions({
      source: { type: source.type },
      directory: { baseUrl, organizationId, directoryId, allowedDomains, dropBadEmails, membership, emails },
      entries,
      policy,
      ...(source.type === 'command' && programOf(source.options)),
    }),
  }
}

/** A relative path names another program in another folder. */
function programOf({
  command,
  folder,
  secretNames,
}: {
  command: readonly string[]
  folder: string
  secretNames: readonly string[]
}) {
  return { command: [folder, ...command], env: secretNames }
}
