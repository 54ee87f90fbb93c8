import type { Block, NotNewer } from '../block.ts'
import { all, type BlockedKeys, FIELDS, isEmpty, type Key, KeySet, matching } from '../keys.ts'
import type { Check } from './check.ts'

const CODE = 'server-not-newer'

/**
 * The server may lack what the last complete run read, so a run only adds. An older server shows deleted entries again,
 * so a run changes nothing. After a day, an operator is asked about this server.
 */
export const serverNotNewer: Check = {
  name: CODE,
  *next({ server, left }, moment) {
    if (server === undefined) return {}
    if (server.trouble !== undefined) {
      if (moment.at === 'end') return {}
      // A run that is killed has added some of it: the next read of another server must not delete that again.
      const isAdding = server.withAdditions !== undefined && !(yield* isEmpty(all(left)))
      return { server: isAdding ? server.withAdditions : server.next }
    }
    const next = moment.at === 'begun' ? undefined : moment.end === 'applied' ? server.next : server.meanwhile
    return next === undefined ? {} : { server: next }
  },
  *judge({ wanted, left, server }) {
    // Raised again, so that the approval stays until a run that applied has made this server the new normal.
    if (server?.accepted !== undefined)
      return [blockOf(server.accepted.params, new KeySet(), server.accepted.token)]
    if (server?.trouble === undefined || server.state.code !== 'not-newer') return []
    const { scope, state, trouble } = server
    const isNew = ([kind, id, field]: Key): boolean =>
      field === '+member' || field === 'create' || wanted.has([kind, id, 'create'])
    const keys = matching(left, FIELDS, (key) => scope === 'nothing' || !isNew(key))
    return [blockOf(state.params, keys, trouble.needsApproval ? trouble.token : undefined)]
  },
}

/** @param token where an operator is asked */
function blockOf(params: NotNewer, keys: BlockedKeys, token: string | undefined): Block {
  const block: Block = { code: CODE, params, until: 'read', keys }
  return token === undefined ? block : { ...block, asks: ['fact', 'server', token] }
}
