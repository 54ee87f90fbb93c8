import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { BareSession, Runner, Session } from './context.ts'
import { amount } from '../../base/wording.ts'
import { createKey } from '../keys/key-file.ts'
import { printResult, withService } from './admin.ts'

const CREATE_HELP = `
Creates the file with mode 0600, or puts the new key first in a file that exists. The first key encrypts. The others
only decrypt, until \`access-service key rotate\` has encrypted everything with the first. No configuration is needed.
Keep a copy of the file elsewhere: without it, nobody can read the credentials again.

Examples:
  access-service key create /etc/access-service/keys`

const ROTATE_HELP = `
Encrypts everything again with the first key of the file. A running service reads the file again and does the work. If
services on other machines share the store, give all of them the new file and restart them first.

Examples:
  access-service key create /etc/access-service/keys && access-service key rotate`

export function addKey(service: Command, run: Runner): void {
  const group = service.command('key').description('Keys that credentials are encrypted with.')
  group
    .command('create')
    .description('Make a key file, or put a new key first in an existing file.')
    .argument('<file>', 'The key file.')
    .addHelpText('after', CREATE_HELP)
    .action((file: string) => run((session) => create(session, file), { needsConfig: false }))
  group
    .command('rotate')
    .description('Encrypt everything with the first key of the file.')
    .addHelpText('after', ROTATE_HELP)
    .action(() => run(rotate))
}

async function create(session: BareSession, file: string): Promise<number> {
  const made = await createKey(resolve(file), new Date())
  const { path, keyId, olderKeyIds } = made
  const sentence =
    olderKeyIds.length === 0
      ? `${path} has the key ${keyId}. Keep a copy elsewhere: without the key, nobody can read what it encrypted.`
      : `${path} has the new key ${keyId} in front of ${olderKeyIds.join(', ')}. Keep a copy elsewhere, and run ` +
        'access-service key rotate.'
  printResult(session, made, sentence)
  return 0
}

async function rotate(session: Session): Promise<number> {
  const rotation = await withService(session, (admin) => admin.perform('rotateKeys', {}))
  const { keyId, sealed, removable } = rotation
  const done = `Everything is encrypted with the key ${keyId} now; ${amount(sealed, 'value')} had to be encrypted again.`
  const [lines, keys] = removable.length === 1 ? ['its line', 'the key'] : ['their lines', 'the keys']
  const next =
    removable.length === 0
      ? 'There is no key to remove from the file.'
      : `Only older backups of this store still need ${removable.join(', ')}. Remove ${lines} from the file, unless another ` +
        `store uses ${keys}.`
  printResult(session, rotation, `${done} ${next}`)
  return 0
}
