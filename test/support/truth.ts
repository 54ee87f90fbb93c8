/**
 * How `truthOf` computes the expected content of a directory from the LDIF of a server. To check the product
 * independently, this file uses nothing from `src/` and no LDAP library.
 *
 * The documented rules:
 *
 * - A value is trimmed. Of several values the first one by code unit is used.
 * - When several people have the same e-mail (ignoring case), the smallest id by code unit keeps it; others have none.
 * - Of several e-mails one in the allowed domain goes first. People with none in it, but with another one, are left out.
 * - Only users of the directory are members of a group.
 * - The members of a primary group in Active Directory are the users with its number in `primaryGroupID`.
 */
export interface TruthRules {
  readonly isUser: (entry: Entry) => boolean
  readonly isGroup: (entry: Entry) => boolean
  readonly id: { readonly attribute: string; readonly form: 'text' | 'guid' }
  /** The id attribute of groups, if it differs from that of users; its form is text. */
  readonly idOfGroup?: string
  /** The name is the value of the first of these attributes that has one. */
  readonly name: readonly string[]
  readonly groupName: string
  readonly nested: 'direct' | 'flatten'
  readonly allowedDomain: string
  /** Whether primary groups (`primaryGroupID` and `objectSid`) give members. */
  readonly primaryGroup?: boolean
}

/** The expected content of a directory. */
export interface Truth {
  readonly users: ReadonlyMap<string, { readonly name: string | null; readonly email: string | null }>
  readonly groups: ReadonlyMap<string, { readonly name: string; readonly members: readonly string[] }>
}

/** Lower-cased attribute → the bytes of its values; the DN is the attribute `dn`. */
export type Entry = ReadonlyMap<string, readonly Buffer[]>

export function truthOf(ldif: string, rules: TruthRules): Truth {
  const entries = parseLdif(ldif)
  const people = entries.filter(rules.isUser)
  const users = usersOf(people, rules)
  const idOfDn = new Map<string, string>()
  for (const entry of people)
    if (users.has(idOf(entry, rules))) idOfDn.set(dnKey(textOf(entry, 'dn')), idOf(entry, rules))
  const primary =
    rules.primaryGroup === true ? membersByPrimaryGroup(people, rules) : new Map<string, string[]>()
  const listed = new Map<string, string[]>()
  for (const entry of entries.filter((each) => each.has('member') || each.has('objectsid'))) {
    listed.set(dnKey(textOf(entry, 'dn')), valuesOf(entry, 'member').map(dnKey))
  }
  const primaryOfDn = new Map<string, readonly string[]>()
  for (const entry of entries) {
    const sid = entry.get('objectsid')?.[0]?.toString('hex')
    primaryOfDn.set(dnKey(textOf(entry, 'dn')), (sid !== undefined && primary.get(sid)) || [])
  }
  const groups = new Map<string, { name: string; members: string[] }>()
  for (const entry of entries.filter(rules.isGroup)) {
    const within = groupsWithin(dnKey(textOf(entry, 'dn')), listed, rules.nested)
    const members = new Set<string>()
    for (const dn of within) {
      for (const id of primaryOfDn.get(dn) ?? []) if (users.has(id)) members.add(id)
      for (const member of listed.get(dn) ?? []) {
        const id = idOfDn.get(member)
        if (id !== undefined) members.add(id)
      }
    }
    const name = smallest(valuesOf(entry, rules.groupName)) ?? ''
    const id = rules.idOfGroup === undefined ? idOf(entry, rules) : textOf(entry, rules.idOfGroup)
    groups.set(id, { name, members: [...members].toSorted() })
  }
  return { users, groups }
}

/** The group itself and, with `flatten`, its direct and indirect member groups. */
function groupsWithin(
  start: string,
  listed: ReadonlyMap<string, readonly string[]>,
  nested: TruthRules['nested'],
): string[] {
  const reached = [start]
  if (nested === 'direct') return reached
  const known = new Set(reached)
  for (let next = 0; next < reached.length; next += 1) {
    for (const member of listed.get(reached[next] ?? '') ?? []) {
      if (known.has(member) || !listed.has(member)) continue
      known.add(member)
      reached.push(member)
    }
  }
  return reached
}

function usersOf(
  people: readonly Entry[],
  rules: TruthRules,
): Map<string, { name: string | null; email: string | null }> {
  const owner = new Map<string, string>()
  const wanted = new Map<string, { name: string | null; email: string | null }>()
  for (const entry of people) {
    const id = idOf(entry, rules)
    const emails = valuesOf(entry, 'mail')
    const isAllowed = (email: string) => email.trim().toLowerCase().endsWith(`@${rules.allowedDomain}`)
    const email = smallest(emails.filter(isAllowed)) ?? smallest(emails) ?? null
    if (email !== null && !isAllowed(email)) continue
    const name = rules.name
      .map((attribute) => smallest(valuesOf(entry, attribute)))
      .find((value) => value !== undefined)
    wanted.set(id, { name: name ?? null, email })
    const key = email?.toLowerCase()
    const current = key === undefined ? undefined : owner.get(key)
    if (key !== undefined && (current === undefined || id < current)) owner.set(key, id)
  }
  for (const [id, { name, email }] of wanted) {
    if (email !== null && owner.get(email.toLowerCase()) !== id) wanted.set(id, { name, email: null })
  }
  return wanted
}

/** The SID of a group, in hexadecimal digits → the ids of the users whose primary group it is. */
function membersByPrimaryGroup(people: readonly Entry[], rules: TruthRules): Map<string, string[]> {
  const members = new Map<string, string[]>()
  for (const entry of people) {
    const sid = entry.get('objectsid')?.[0]
    const number = Number(textOf(entry, 'primaryGroupID'))
    if (sid === undefined || Number.isNaN(number)) continue
    const group = Buffer.from(sid)
    group.writeUInt32LE(number, group.length - 4)
    const key = group.toString('hex')
    members.set(key, [...(members.get(key) ?? []), idOf(entry, rules)])
  }
  return members
}

function idOf(entry: Entry, { id }: TruthRules): string {
  const bytes = entry.get(id.attribute.toLowerCase())?.[0] ?? Buffer.alloc(0)
  if (id.form === 'text') return bytes.toString('utf8')
  const hex = (from: number, to: number, reverse: boolean) => {
    const part = [...bytes.subarray(from, to)]
    return Buffer.from(reverse ? part.toReversed() : part).toString('hex')
  }
  return [hex(0, 4, true), hex(4, 6, true), hex(6, 8, true), hex(8, 10, false), hex(10, 16, false)].join('-')
}

export function parseLdif(ldif: string): Entry[] {
  const entries: Entry[] = []
  for (const record of ldif.replaceAll(/\n /g, '').split(/\n\n+/)) {
    const entry = new Map<string, Buffer[]>()
    for (const line of record.split('\n')) {
      const parts = /^([^#:\s][^:]*):(:?) ?(.*)$/.exec(line)
      if (parts === null) continue
      const [, name = '', coded, raw = ''] = parts
      const key = name.toLowerCase()
      entry.set(key, [...(entry.get(key) ?? []), Buffer.from(raw, coded === ':' ? 'base64' : 'utf8')])
    }
    if (entry.has('dn')) entries.push(entry)
  }
  return entries
}

export function valuesOf(entry: Entry, attribute: string): string[] {
  return (entry.get(attribute.toLowerCase()) ?? []).map((value) => value.toString('utf8'))
}

function textOf(entry: Entry, attribute: string): string {
  return valuesOf(entry, attribute)[0] ?? ''
}

function smallest(values: readonly string[]): string | undefined {
  return values
    .map((value) => value.trim())
    .filter((value) => value !== '')
    .toSorted()[0]
}

/** The same text for every spelling of a DN: unescaped, lower case, single blanks, the parts of each RDN sorted. */
export function dnKey(dn: string): string {
  const rdns: string[][] = [[]]
  let bytes: number[] = []
  let kept = 0
  const endPart = () => {
    // Trailing blanks are ignored unless they are escaped.
    while (bytes.length > kept && bytes.at(-1) === 0x20) bytes.pop()
    const text = Buffer.from(bytes).toString('utf8')
    const [type = '', ...value] = text.split('=')
    const plain = value
      .join('=')
      .replaceAll(/\s+/g, ' ')
      .trim()
      .normalize('NFKC')
      .toLowerCase()
      .normalize('NFKC')
    rdns.at(-1)?.push(`${type.trim().toLowerCase()}=${plain}`)
    bytes = []
    kept = 0
  }
  const input = Buffer.from(dn)
  for (let at = 0; at < input.length; at += 1) {
    const char = String.fromCharCode(input[at] ?? 0)
    if (char === '\\') {
      const hex = /^[0-9a-f]{2}/i.exec(input.toString('latin1', at + 1, at + 3))
      bytes.push(hex === null ? (input[at + 1] ?? 0) : Number.parseInt(hex[0], 16))
      at += hex === null ? 1 : 2
      kept = bytes.length
    } else if (char === ',' || char === '+') {
      endPart()
      if (char === ',') rdns.push([])
    } else bytes.push(input[at] ?? 0)
  }
  endPart()
  return JSON.stringify(rdns.map((parts) => parts.toSorted()))
}
