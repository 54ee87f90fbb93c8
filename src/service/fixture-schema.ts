import { LineCounter, parseDocument } from 'yaml'
import { z } from 'zod'
import { DirsyncdError } from '../errors.ts'
import { parseDuration } from './duration.ts'
import { valueErrors } from './values.ts'

const id = z.int().min(1).max(2_147_483_647)
const text = z.string().min(1)

const user = z.strictObject({
  external_id: z.string().optional(),
  email: z.string().optional(),
  name: z.string().optional(),
  employee_id: z.string().optional(),
})

const group = z.strictObject({
  external_id: z.string(),
  name: z.string(),
  external_member_ids: z.array(z.string()).default([]),
})

const directory = z.strictObject({
  id,
  name: text,
  doppler: z.boolean().default(false),
  target_type: text.default('ldap'),
  users: z.array(user).default([]),
  groups: z.array(group).default([]),
})

/** `token` is the token itself or `{ file }` that holds it, `sha256` is its hash in hexadecimal digits. */
const token = z
  .strictObject({
    token: z.union([text, z.strictObject({ file: text })]).optional(),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits in lower case')
      .optional(),
    scopes: z.array(z.enum(['ORG_READ', 'ORG', 'USER_READ', 'USER'])).min(1),
    expires: text.refine(
      isExpiry,
      'must be a duration such as "30d" or a time such as "2030-01-31T00:00:00Z"',
    ),
  })
  .refine((value) => (value.token === undefined) !== (value.sha256 === undefined), {
    message: 'must have either "token" or "sha256"',
  })

const contact = z.strictObject({ id, name: text, email: text, tokens: z.array(token).default([]) })

const organization = z
  .strictObject({
    id,
    name: text,
    allowedDomains: z.array(text).min(1),
    contacts: z.array(contact).default([]),
    directories: z.array(directory).default([]),
  })
  .superRefine((value, context) => {
    for (const [index, { users, groups }] of value.directories.entries()) {
      checkEntries(context, ['directories', index, 'users'], users, value.allowedDomains)
      checkEntries(context, ['directories', index, 'groups'], groups, value.allowedDomains)
    }
  })

const fixture = z
  .strictObject({ organizations: z.array(organization).min(1) })
  .superRefine((value, context) => {
    const { organizations } = value
    checkUnique(context, 'organization', organizations)
    checkUnique(
      context,
      'contact',
      organizations.flatMap((each) => each.contacts),
    )
    checkUnique(
      context,
      'directory',
      organizations.flatMap((each) => each.directories),
    )
  })

export type Fixture = z.output<typeof fixture>
export type FixtureOrganization = Fixture['organizations'][number]
export type FixtureToken = z.output<typeof token>
export type FixtureDirectory = z.output<typeof directory>

/** Reads the text of a fixture. Throws `DirsyncdError('config-invalid')` that names every fault with its key. */
export function parseFixture(yaml: string, path: string): Fixture {
  const lines = new LineCounter()
  const document = parseDocument(yaml, { lineCounter: lines, prettyErrors: false })
  const [broken] = document.errors
  if (broken !== undefined) {
    const { line, col } = lines.linePos(broken.pos[0])
    throw invalid(path, `line ${line}, column ${col} is not YAML: ${broken.message.replace(/\.$/, '')}`)
  }
  const result = fixture.safeParse(document.toJS(), { reportInput: true })
  if (result.success) return result.data
  throw invalid(path, result.error.issues.map(describe).join('; '))
}

export function invalid(path: string, what: string): DirsyncdError {
  return new DirsyncdError('config-invalid', `The fixture ${path} cannot be used: ${what}.`)
}

function describe(issue: z.core.$ZodIssue): string {
  const key = issue.path.length === 0 ? 'the file' : z.core.toDotPath(issue.path)
  if (issue.code === 'unrecognized_keys') return `${key} has the unknown key "${issue.keys.join('", "')}"`
  if (issue.code === 'invalid_type' && issue.input === undefined) return `${key} is missing`
  return `${key}: ${issue.message}`
}

function isExpiry(value: string): boolean {
  return parseDuration(value) !== undefined || !Number.isNaN(Date.parse(value))
}

type Entries = FixtureDirectory['users'] | FixtureDirectory['groups']

/** The rules are those of the API: what could not be created there cannot be here. */
function checkEntries(
  context: z.core.$RefinementCtx,
  path: (string | number)[],
  entries: Entries,
  allowedDomains: readonly string[],
): void {
  const seen = new Set<string>()
  for (const [index, entry] of entries.entries()) {
    for (const { field, message } of valueErrors(entry, allowedDomains)) {
      context.addIssue({ code: 'custom', path: [...path, index, field], message })
    }
    const externalId = entry.external_id
    if (externalId === undefined) continue
    if (seen.has(externalId)) {
      context.addIssue({ code: 'custom', path: [...path, index, 'external_id'], message: 'is there twice' })
    }
    seen.add(externalId)
  }
}

function checkUnique(
  context: z.core.$RefinementCtx,
  what: string,
  rows: readonly { readonly id: number }[],
): void {
  const seen = new Set<number>()
  for (const row of rows) {
    if (seen.has(row.id)) {
      context.addIssue({
        code: 'custom',
        path: ['organizations'],
        message: `${what} ${row.id} is there twice`,
      })
    }
    seen.add(row.id)
  }
}
