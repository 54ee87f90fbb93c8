import { flatOptions } from '../base/yaml/options.ts'
import type { Options } from '../core/plan/configuration.ts'
import type { SyncConfig } from './config.ts'

/**
 * Options of a source that decide neither who is read nor how a value comes about: how the source is reached, how long
 * that may take, and what proves a file complete.
 */
const WITHOUT_EFFECT = new RegExp(
  '^(url|tls|timeouts|bind|pageSize|referrals|allowedDomains|settleMs|watch|badRows' +
    '|timeoutMs|maxOutput|maxEntries|folder|secretNames)(\\.|$)|\\.(maxAgeMs|rows|sha256)$',
)

/**
 * The options that decide who is in the directory and how values come about, by their key. A change of one of them may
 * change many entries without any change in the source.
 */
export function decisiveOptions({ source, directory, entries, policy }: SyncConfig): Options {
  const { baseUrl, organizationId, directoryId, allowedDomains, membership, emails } = directory
  // Runs of versions that did not have it are compared, too.
  const dropBadEmails = directory.dropBadEmails || undefined
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

/** A program is another one in another folder, where it is named by a relative path. */
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
