import { createAnswerDecoder, type Answer } from '../../src/source/ldap/connection/message.ts'
import { createFramer } from '../../src/source/ldap/connection/frames.ts'
import type { LdapEntry } from '../../src/source/ldap/entry.ts'
import { encode, encodeInteger, OCTETS, SEQUENCE, SET } from './ber.ts'

const SEARCH_ENTRY = 0x64

export type Attributes = Readonly<Record<string, readonly (string | Buffer)[]>>

/** The entry that a client has when a server sends this. */
export function ldapEntry(dn: string, attributes: Attributes): LdapEntry {
  const [answer] = decodeStream(entryMessage(7, dn, attributes))
  if (answer?.type !== 'entry') throw new Error('not an entry')
  return answer.entry
}

export function entryMessage(messageId: number, dn: string, attributes: Attributes): Buffer {
  const list = Object.entries(attributes).map(([name, values]) =>
    encode(SEQUENCE, encode(OCTETS, name), encode(SET, ...values.map((value) => encode(OCTETS, value)))),
  )
  const entry = encode(SEARCH_ENTRY, encode(OCTETS, dn), encode(SEQUENCE, ...list))
  return encode(SEQUENCE, encodeInteger(messageId), entry)
}

/** An answer whose entry is decoded. */
export type Decoded =
  | Exclude<Answer, { readonly type: 'entry' }>
  | { readonly type: 'entry'; readonly messageId: number; readonly entry: LdapEntry }

/** What a connection makes of these bytes. Throws where it would be lost. */
export function decodeStream(bytes: Buffer): Decoded[] {
  const answers: Answer[] = []
  const decode = createAnswerDecoder()
  createFramer((message, start, end) => answers.push(decode(message, start, end))).push(bytes)
  return answers.map((answer) =>
    answer.type === 'entry' ? { ...answer, entry: answer.entry.decode() } : answer,
  )
}
