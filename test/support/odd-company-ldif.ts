import type { OddCompany, OddGroup, OddMember, OddPerson, Spelling } from './odd-company.ts'
import { ldif } from './people.ts'

/**
 * Writes the odd company as LDIF, adapted to what each server accepts:
 *
 * - OpenLDAP: a `groupOfNames` needs a member, so an empty group has the empty DN, as is usual there.
 * - 389-ds: no adaptation.
 * - Active Directory: no RDNs of several values, no line breaks or tabs in the `CN` (`displayName` keeps them), only
 *   the first `mail`, only members that exist, and only the plain spelling of members. Additional entries: disabled
 *   accounts, computers, contacts, foreign security principals, managed service accounts, an `inetOrgPerson`, and
 *   groups of every scope.
 */
export function openldapLdif(company: OddCompany, base: string): string {
  return unixLdif(company, base, true)
}

export function ds389Ldif(company: OddCompany, base: string): string {
  return unixLdif(company, base, false)
}

function unixLdif({ people, groups }: OddCompany, base: string, needsMembers: boolean): string {
  const personDn = (person: OddPerson, spelling: Spelling = 'plain') =>
    spell(rdnOf(person), `ou=people,${base}`, spelling)
  const groupDn = ({ cn }: OddGroup) => `cn=${escapeValue(cn)},ou=groups,${base}`
  const dnOf = (member: OddMember): string => {
    if ('person' in member) return personDn(at(people, member.person), member.spelling)
    if ('group' in member) return groupDn(at(groups, member.group))
    if ('nobody' in member) return `uid=${member.nobody},ou=people,${base}`
    return member.foreign % 2 === 0 ? `cn=reader,ou=services,${base}` : 'uid=somebody,dc=partner,dc=test'
  }
  const records = people.map((person) => ldif(personDn(person), unixPerson(person)))
  for (const group of groups) {
    const member = group.members.map(dnOf)
    records.push(
      ldif(groupDn(group), {
        objectClass: ['groupOfNames'],
        cn: [group.cn],
        member: member.length === 0 && needsMembers ? [''] : member,
      }),
    )
  }
  return records.join('')
}

function unixPerson(person: OddPerson): Record<string, readonly string[]> {
  const { uid, givenName, sn, cn, displayName, mails, employeeNumber } = person
  return {
    objectClass: ['inetOrgPerson'],
    uid: [uid],
    givenName: [givenName],
    sn: [sn],
    cn: [cn],
    displayName: [displayName],
    ...(mails.length > 0 && { mail: mails }),
    employeeNumber: [employeeNumber],
  }
}

function rdnOf({ uid, cn, multiValued }: OddPerson): string {
  return multiValued ? `cn=${escapeValue(cn)}+uid=${uid}` : `uid=${uid}`
}

/** The organizational unit of the people; it also contains disabled accounts, computers and contacts. */
export const AD_PEOPLE = 'OU=Company'

export function activeDirectoryLdif({ people, groups }: OddCompany, base: string): string {
  const unit = `${AD_PEOPLE},${base}`
  const personDn = ({ uid, cn }: OddPerson) => `CN=${escapeValue(adName(cn, uid))},${unit}`
  const groupDn = (index: number) =>
    `CN=${escapeValue(adName(at(groups, index).cn, `g${index}`))},OU=Groups,${unit}`
  const foreignDn = (index: number) => {
    if (index % 3 === 0) return `CN=Contact ${index},${unit}`
    if (index % 3 === 1) return `CN=PC${index},${unit}`
    // A user of another forest: the server creates an entry for it when a group has its SID as a member.
    return `<SID=S-1-5-21-1111111111-222222222-333333333-${index}>`
  }
  const dnOf = (member: OddMember): string | undefined => {
    if ('person' in member) return personDn(at(people, member.person))
    if ('group' in member) return groupDn(member.group)
    return 'foreign' in member ? foreignDn(member.foreign) : undefined
  }
  const records = [
    ldif(unit, { objectClass: ['organizationalUnit'] }),
    ldif(`OU=Groups,${unit}`, { objectClass: ['organizationalUnit'] }),
    ...people.map((person) => ldif(personDn(person), adPerson(person))),
    ...Array.from({ length: 12 }, (_, each) => 40 + each)
      .filter((index) => index % 3 !== 2)
      .map((index) => ldif(foreignDn(index), adForeign(index))),
    ...groups.map((_, index) =>
      ldif(groupDn(index), {
        objectClass: ['group'],
        sAMAccountName: [`g${index}`],
        groupType: ['-2147483640'],
      }),
    ),
  ]
  for (const [index, { members }] of groups.entries()) {
    // Active Directory rejects a group as a member of itself.
    const dns = members.filter((each) => !('group' in each && each.group === index)).map(dnOf)
    const member = dns.filter((dn) => dn !== undefined)
    if (member.length > 0)
      records.push(ldif(groupDn(index), { changetype: ['modify'], add: ['member'], member }))
  }
  const somebody = [1, 2, 3].map((index) => personDn(at(people, index)))
  return [...records, ...adSpecialEntries(unit, somebody, groupDn(46))].join('')
}

/** Managed service accounts (a subclass of computer), an `inetOrgPerson`, and groups of every scope and type. */
function adSpecialEntries(unit: string, people: readonly string[], universal: string): string[] {
  const group = (cn: string, groupType: string, member: readonly string[]) =>
    ldif(`CN=${cn},OU=Groups,${unit}`, {
      objectClass: ['group'],
      sAMAccountName: [cn],
      groupType: [groupType],
      member,
    })
  return [
    ldif(`CN=Managed,${unit}`, {
      ...machine('msDS-GroupManagedServiceAccount', 'managed$'),
      'msDS-ManagedPasswordInterval': ['30'],
    }),
    ldif(`CN=Standalone,${unit}`, machine('msDS-ManagedServiceAccount', 'standalone$')),
    ldif(`CN=Ines Inet,${unit}`, {
      objectClass: ['inetOrgPerson'],
      sAMAccountName: ['ines'],
      displayName: ['Ines Inet'],
      mail: ['ines@example.org'],
      userAccountControl: ['544'],
    }),
    group('Global', '-2147483646', [...people, `CN=Ines Inet,${unit}`, `CN=Managed,${unit}`]),
    group('Local', '-2147483644', [`CN=Global,OU=Groups,${unit}`, universal]),
    group('Mailing list', '8', [`CN=Global,OU=Groups,${unit}`, ...people.slice(0, 1)]),
  ]
}

function machine(objectClass: string, sAMAccountName: string): Record<string, readonly string[]> {
  return { objectClass: [objectClass], sAMAccountName: [sAMAccountName], userAccountControl: ['4096'] }
}

function adPerson(person: OddPerson): Record<string, readonly string[]> {
  const { uid, givenName, sn, displayName, mails, employeeNumber, disabled } = person
  return {
    objectClass: ['user'],
    sAMAccountName: [uid],
    givenName: [givenName],
    sn: [sn],
    displayName: [displayName],
    ...(mails.length > 0 && { mail: mails.slice(0, 1) }),
    employeeNumber: [employeeNumber],
    // 544: a normal account that needs no password; 546: the same, disabled.
    userAccountControl: [disabled ? '546' : '544'],
  }
}

function adForeign(index: number): Record<string, readonly string[]> {
  if (index % 3 === 0)
    return { objectClass: ['contact'], displayName: ['A contact'], mail: [`c${index}@example.org`] }
  return machine('computer', `PC${index}$`)
}

/** A CN of Active Directory has 64 characters at most, and no line breaks. */
function adName(cn: string, unique: string): string {
  return `${cn.replaceAll(/[\n\t]/g, ' ').slice(0, 48)} ${unique}`
}

/** Escapes an attribute value of a DN (RFC 4514). */
function escapeValue(value: string): string {
  return value
    .replaceAll(/[,+"\\<>;=]/g, '\\$&')
    .replaceAll(/[\n\t]/g, hexEscape)
    .replace(/^[ #]/, '\\$&')
    .replace(/ $/, '\\ ')
}

function spell(rdn: string, rest: string, spelling: Spelling): string {
  switch (spelling) {
    case 'plain':
      return `${rdn},${rest}`
    case 'capitals':
      return `${rdn.replace(/^(uid|cn)=/, (type) => type.toUpperCase())},${rest.toUpperCase()}`
    case 'blanks':
      return `${rdn} , ${rest.replaceAll(',', ' , ')}`
    case 'hex':
      return `${rdn.replaceAll(/\\([^0-9a-f])/gi, (_, escaped: string) => hexEscape(escaped))},${rest}`
  }
}

function hexEscape(text: string): string {
  return [...Buffer.from(text)].map((byte) => `\\${byte.toString(16).padStart(2, '0')}`).join('')
}

function at<T>(list: readonly T[], index: number): T {
  const found = list[index]
  if (found === undefined) throw new Error(`nothing at ${index}`)
  return found
}
