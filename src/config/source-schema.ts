import { z } from 'zod'
import { duration, path, secret, size, text, timeout, url } from '../base/yaml/values.ts'

const formula = text.meta({ title: 'expression' })

const valueSource = z.union([formula, z.array(formula).min(1)])

export const expression = z
  .union(
    [
      formula.describe(
        'An attribute or column, a template such as "{givenName} {sn}", or an expression, which begins with "=" (docs/mapping.md).',
      ),
      z.array(formula).min(1).describe('The first of these that has a value.'),
      z.strictObject({ value: valueSource, default: text.describe('Used where the value is missing.') }),
    ],
    {
      error:
        'must be a name such as mail, a template such as "{givenName} {sn}", an expression such as "= lower(mail)", ' +
        'a list of these (the first that has a value), or { value: …, default: … }',
    },
  )
  .meta({ id: 'expression' })

/** One raw attribute or column. The source refuses templates and expressions: an id must lead back to its entry. */
export const attribute = text.meta({ title: 'attribute or column' })

export const userMap = z
  .strictObject({
    external_id: attribute.describe(
      'Attribute or column of the id, such as entryUUID. An id must never change, and never be used again for another person.',
    ),
    email: expression.exactOptional().describe('Where the e-mail address comes from.'),
    name: expression.exactOptional().describe('Where the full name comes from.'),
    employee_id: expression
      .exactOptional()
      .describe('Where the employee id comes from. Sent when the user is created, never changed later.'),
  })
  .describe('Which attribute or column becomes which field.')

export const groupMap = z
  .strictObject({
    external_id: attribute.describe('Attribute or column of the id.'),
    name: expression.describe('Where the name comes from.'),
  })
  .describe('Which attribute or column becomes which field.')

const ldapUserMap = userMap
  .extend({
    external_id: attribute
      .exactOptional()
      .describe(
        'Attribute of the id. An id must never change, and never be used again for another person. Left out: that of the vendor, such as entryUUID or objectGUID.',
      ),
  })
  .describe('Which attribute becomes which field.')

const ldapGroupMap = groupMap
  .extend({
    external_id: attribute.exactOptional().describe('Attribute of the id. Left out: that of the vendor.'),
    members: z
      .union([attribute, z.array(attribute).min(1)], {
        error: () => 'must be the name of an attribute or a list of names',
      })
      .exactOptional()
      .describe(
        'Attribute with the members, or a list of such attributes. Their values are DNs (member, uniqueMember) or user names (memberUid). Left out: that of the vendor.',
      ),
  })
  .describe('Which attribute becomes which field.')

const filter = text.meta({ title: 'LDAP filter' })

const search = {
  base: z
    .union([text, z.array(text).min(1)], {
      error: ({ input }) => `${input === undefined ? 'is missing; it ' : ''}must be a DN or a list of DNs`,
    })
    .describe('DN at which the search begins, or a list of DNs.'),
  scope: z
    .enum(['sub', 'one', 'base'])
    .default('sub')
    .describe('The whole tree under the base, one level, or the base itself.'),
  filter: filter
    .exactOptional()
    .describe(
      'LDAP filter of the entries that belong to the sync; now() and now(filetime) are the time of the read. Left out: that of the vendor.',
    ),
}

const ldapUsers = z.strictObject({
  ...search,
  map: ldapUserMap.prefault({}),
  disabled: z
    .enum(['delete', 'skip', 'keep'])
    .default('keep')
    .describe(
      'Accounts that cannot log in: keep treats them like others, skip leaves them in the directory, delete treats them as gone.',
    ),
  disabledWhen: filter
    .exactOptional()
    .describe(
      'LDAP filter of the accounts that cannot log in; now() and now(filetime) are the time of the read. Left out: the rule of the vendor.',
    ),
})

const ldapGroups = z.strictObject({
  ...search,
  map: ldapGroupMap,
  nested: z
    .enum(['direct', 'flatten', 'in-chain'])
    .default('direct')
    .describe(
      'Members of nested groups: direct ignores them, flatten counts them, in-chain lets Active Directory compute them.',
    ),
  membersFrom: z
    .enum(['member', 'memberOf'])
    .default('member')
    .describe('member: groups list their members; memberOf: users list their groups.'),
  primaryGroup: z
    .boolean()
    .exactOptional()
    .describe(
      'Whether users are members of their primary group (primaryGroupID, gidNumber), which does not list them. Left out: yes for Active Directory.',
    ),
})

const URL_HELP = 'must be a URL such as ldaps://ldap.example.org:636, or a list of them'

export const ldapUrl = url(['ldap', 'ldaps'], {
  password: 'give it as bind: { dn: …, password: { file: PATH } }',
})

export const ldapSource = z
  .strictObject({
    type: z.literal('ldap'),
    url: z
      .union([ldapUrl, z.array(ldapUrl).min(1, { error: URL_HELP })], {
        error: URL_HELP,
      })
      .describe(
        'Address of the server, such as ldaps://ldap.example.org:636, or a list of servers with the same content. The next one is ' +
          'tried when one cannot be reached or cannot answer; a refused bind, a wrong certificate and a failure in ' +
          'the middle of a read stop the run.',
      ),
    tls: z
      .strictObject({
        ca: path
          .exactOptional()
          .describe(
            'PEM file with the CA of the server, or with its own certificate. Left out: the CAs of Node and of this machine.',
          ),
        startTls: z.boolean().default(false).describe('Encrypt an ldap:// connection before the bind.'),
        certificate: path
          .exactOptional()
          .describe(
            'PEM file with the certificate that the client shows to the server; read again when it changes.',
          ),
        key: z
          .union([path, secret], {
            error: 'must be the path of a PEM file, or { file: PATH }, { env: NAME } or { command: […] }',
          })
          .exactOptional()
          .describe("Where the unencrypted PEM key of the client's certificate is: a path or a secret."),
      })
      .prefault({})
      .describe('Encryption.'),
    bind: z
      .discriminatedUnion(
        'external',
        [
          z.strictObject({
            external: z
              .literal(false)
              .optional()
              .describe('true binds with tls.certificate (SASL EXTERNAL) instead of dn and password.'),
            dn: text.describe('DN of an account with read access to everything that the sync needs.'),
            password: secret.describe('Where the password of this account is.'),
            allowPlainText: z
              .boolean()
              .default(false)
              .describe(
                'Allows the password to cross the network unencrypted, to an ldap:// server without startTls. It is ' +
                  'always allowed to localhost.',
              ),
          }),
          z.strictObject({
            external: z.literal(true).describe('Bind with tls.certificate (SASL EXTERNAL).'),
          }),
        ],
        { error: 'must be dn and password, or external: true' },
      )
      .exactOptional()
      .describe('The account that reads. Left out: an anonymous bind.'),
    pageSize: z.int().min(1).max(100_000).default(1000).describe('Entries on one page of a search.'),
    timeouts: z
      .strictObject({
        connect: timeout.prefault('10s').describe('Until the server takes the connection.'),
        handshake: timeout.exactOptional().describe('For the TLS handshake. Left out: as connect.'),
        bind: timeout.exactOptional().describe('For the answer to the bind. Left out: as connect.'),
        firstAnswer: timeout
          .exactOptional()
          .describe('Until the answer to a search begins. Left out: as answer.'),
        answer: timeout
          .prefault('60s')
          .describe('The longest silence of the server in the middle of an answer.'),
        read: timeout.prefault('1h').describe('For a whole read, from the connection to the last entry.'),
      })
      .prefault({})
      .describe('How long the server may take.'),
    vendor: z
      .enum(['openldap', 'active-directory', '389ds', 'freeipa', 'lldap', 'generic'])
      .exactOptional()
      .describe(
        'Kind of server, for the defaults of ids, filters, members and disabled accounts. Left out: detected.',
      ),
    confirmAfter: duration
      .exactOptional()
      .describe(
        'For servers that do not show how new their data is: a read that is so much later must confirm an absence before the delete. Set it if a load balancer hides several servers. Left out: 1h if url stands for several servers, otherwise no wait.',
      ),
    referrals: z
      .enum(['report', 'refuse'])
      .default('report')
      .describe('References to other servers are never followed: report logs them, refuse fails the read.'),
    users: ldapUsers.describe('Where the users are.'),
    groups: ldapGroups.exactOptional().describe('Where the groups are.'),
  })
  .describe('An LDAP server or Active Directory.')

const printedGroupMap = groupMap
  .extend({
    members: attribute.exactOptional().describe('Field with the ids of the users that are members.'),
  })
  .describe('Which field of the output becomes which field.')

export const commandSource = z
  .strictObject({
    type: z.literal('command'),
    command: z
      .array(z.string())
      .min(1)
      .describe('A program and its arguments, run without a shell; it prints one entry on each line.'),
    timeout: timeout.prefault('10m').describe('How long the program may take.'),
    env: z
      .array(text.regex(/^[^=]+$/, { error: 'must be the name of an environment variable' }))
      .default([])
      .describe('Environment variables that the program gets besides PATH, HOME, LANG and TZ.'),
    maxOutput: size.prefault('1GiB').describe('The most that the program may print.'),
    maxEntries: z
      .int()
      .min(1)
      .default(2_000_000)
      .describe('The most users and groups together that the program may print.'),
    users: z.strictObject({ map: userMap }).describe('How the printed users are mapped.'),
    groups: z
      .strictObject({ map: printedGroupMap })
      .exactOptional()
      .describe('How the printed groups are mapped.'),
  })
  .describe('Any program that prints users and groups as lines of JSON.')
