import { exampleText } from '../src/operations/init/yaml.ts'
import { configJsonSchema } from '../src/config/schema.ts'
import { serviceJsonSchema } from '../src/service/config/schema.ts'

const HEAD = `# yaml-language-server: $schema=./schema.json
#
# Every option of dirsyncd. Made from src/config/schema.ts by \`npm run configuration\`.
#
# Copy this file to config/dirsyncd.yaml, replace the values by yours, and remove what you do not need.
# An option such as \`#dataDir: …\` is optional and commented out. It shows its default, or an example if the comment says
# what the default is. To set it, remove its # and those of the sections around it.
#
# Paths are relative to the folder of this file. Durations carry a unit: 500ms, 30s, 15m, 2h, 1d.
# \`dirsyncd reload\` applies changes of syncs and retention to a running daemon. Other changes need a restart.
#
# A secret is never written here; the configuration says where it is:
#   { env: NAME }                     an environment variable
#   { file: PATH }                    a file, read again when it changes
#   { credential: NAME }              a credential of systemd: $CREDENTIALS_DIRECTORY/NAME, else /etc/credstore/NAME
#   { command: [program, argument] }  the output of a program, run without a shell
#
# A value of \`map\` has one of these forms (docs/mapping.md):
#   mail                                          an attribute or column
#   "{givenName} {sn}"                            a template
#   '= lower(first(mail, uid + "@example.org"))'  an expression
#   [displayName, "{givenName} {sn}"]             the first of these that has a value
#   { value: displayName, default: Unknown }      any of these, with a default
`

/** What config/example.yaml shows. An option with a # is commented out. */
const VALUES = {
  '#store': 'postgres://dirsyncd@db.example.org:5432/dirsyncd',
  '#storePassword': { file: '/run/secrets/store-password' },
  '#queue': 'redis://redis.example.org:6379/0',
  '#queuePassword': { env: 'DIRSYNCD_REDIS_PASSWORD' },
  '#admin': {
    hosts: ['dirsyncd.example.org'],
    token: { file: '/run/secrets/admin-token' },
    userHeader: 'X-Remote-User',
    trustedProxies: ['10.0.0.5'],
    proxySecret: { file: '/run/secrets/admin-proxy-secret' },
  },
  '#worker': { listen: '127.0.0.1:8081' },
  '#notifications': {
    channels: [
      {
        name: 'ops',
        type: 'webhook',
        url: 'https://hooks.example.org/dirsyncd',
        secret: { file: '/run/secrets/webhook-secret' },
        ca: '/etc/dirsyncd/hooks-ca.pem',
        proxy: 'http://proxy.example.org:3128',
      },
      { name: 'chat', type: 'slack', url: { file: '/run/secrets/slack-url' }, events: ['asking', 'failing'] },
      {
        name: 'mail',
        type: 'email',
        host: 'smtp.example.org',
        user: 'dirsyncd',
        password: { file: '/run/secrets/smtp-password' },
        from: 'dirsyncd <dirsyncd@example.org>',
        to: ['ops@example.org'],
      },
    ],
  },
  syncs: [
    {
      name: 'corp',
      schedule: '*/15 * * * *',
      '#timezone': 'Europe/Zagreb',
      source: {
        type: 'ldap',
        url: 'ldaps://ldap.example.org:636',
        '#tls': {
          ca: '/etc/dirsyncd/ldap-ca.pem',
          certificate: '/etc/dirsyncd/client.pem',
          key: '/run/secrets/client-key.pem',
        },
        bind: {
          '#external': false,
          dn: 'cn=reader,dc=example,dc=org',
          password: { file: '/run/secrets/ldap-password' },
        },
        '#timeouts': { handshake: '10s', bind: '10s', firstAnswer: '60s' },
        '#vendor': 'openldap',
        '#confirmAfter': '1h',
        users: {
          base: 'ou=people,dc=example,dc=org',
          filter: '(objectClass=inetOrgPerson)',
          map: {
            '#external_id': 'entryUUID',
            email: 'mail',
            name: '{givenName} {sn}',
            '#employee_id': 'employeeNumber',
          },
          '#disabled': 'skip',
          '#disabledWhen': '(employeeType=former)',
        },
        groups: {
          base: 'ou=groups,dc=example,dc=org',
          filter: '(objectClass=groupOfNames)',
          map: { '#external_id': 'entryUUID', name: 'cn', '#members': 'member' },
          '#primaryGroup': true,
        },
      },
      directory: {
        baseUrl: 'https://access.example.com',
        organizationId: 1,
        directoryId: 7,
        token: { env: 'DIRSYNCD_TOKEN' },
        '#ca': '/etc/dirsyncd/access-ca.pem',
        '#proxy': 'http://proxy.example.org:3128',
        '#allowedDomains': ['example.org'],
        '#rateLimit': { requests: 100, per: '1s' },
      },
      '#entries': {
        users: {
          include: ['*'],
          exclude: ['svc-*', { from: '*,ou=service,dc=example,dc=org' }],
          protected: [{ id: '4f0c12e8-0000-0000-0000-000000000001' }],
        },
        groups: { exclude: ['tmp-*'] },
      },
      '#guards': { groups: { deleteAfter: { runs: 3 } } },
    },
    {
      name: 'contractors',
      source: {
        type: 'csv',
        users: {
          path: '/data/users.csv',
          delimiter: ';',
          '#trailer': { pattern: String.raw`^END (\d+)$` },
          '#maxAge': '2d',
          map: { external_id: 'id', email: 'mail', name: 'full_name' },
        },
        groups: {
          path: '/data/groups.csv',
          map: { external_id: 'id', name: 'title' },
          '#column': 'teams',
          '#separator': ',',
          '#name': 'Team {teams}',
        },
        members: { path: '/data/members.csv', map: { group: 'group_id', user: 'user_id' } },
        '#settle': '2s',
      },
      directory: {
        baseUrl: 'https://access.example.com',
        organizationId: 1,
        directoryId: 8,
        token: { command: ['/usr/local/bin/get-secret', 'dirsyncd/contractors'] },
      },
      policy: 'upsert',
    },
    {
      name: 'payroll',
      source: {
        type: 'command',
        command: ['/usr/local/bin/payroll-export', '--active'],
        '#env': ['PAYROLL_PASSWORD'],
        users: { map: { external_id: 'id', email: 'mail', name: 'full_name' } },
        groups: { map: { external_id: 'id', name: 'title', members: 'members' } },
      },
      directory: {
        baseUrl: 'https://access.example.com',
        organizationId: 1,
        directoryId: 9,
        token: { env: 'DIRSYNCD_TOKEN' },
      },
    },
  ],
}

/** The text of `config/example.yaml`. */
export function exampleConfiguration(): string {
  return exampleText(configJsonSchema(), HEAD, VALUES)
}

const SERVICE_HEAD = `# yaml-language-server: $schema=./access-service.schema.json
#
# Every option of access-service. Made from src/service/config/schema.ts by \`npm run configuration\`.
#
# Copy this file to /etc/access-service/access-service.yaml, and change the values to yours. An option such as
# \`#listen: …\` is optional and commented out. It shows its default, or an example if the comment says what the default is.
#
# Paths are relative to the folder of this file. Durations carry a unit: 500ms, 30s, 15m, 2h, 1d. A secret is never
# written here; the configuration says where it is: { env: NAME }, { file: PATH }, { credential: NAME } of systemd, or
# { command: [program, argument] }.
`

const SERVICE_VALUES = {
  service: {
    keyFile: '/etc/access-service/keys',
    '#store': 'postgres://service@db.example.org:5432/service',
    '#storePassword': { file: '/run/secrets/service-store-password' },
    '#dataDir': '/var/lib/access-service/service',
    '#publicUrl': 'https://access.example.com',
    '#trustedProxies': ['10.0.0.0/8'],
    '#fixture': 'organizations.yaml',
    '#requestLog': '/var/log/access-service/requests.log',
    '#faults': '500=0.1,429=0.1:1s,latency=0.1:200ms,drop-before=0.1,drop-after=0.1',
  },
}

/** The text of `config/access-service.yaml`. */
export function exampleServiceConfiguration(): string {
  return exampleText(serviceJsonSchema(), SERVICE_HEAD, SERVICE_VALUES)
}
