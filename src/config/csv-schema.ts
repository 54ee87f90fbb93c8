import { z } from 'zod'
import { attribute, expression, groupMap, userMap } from './source-schema.ts'
import { duration, path, text, timeout } from '../base/yaml/values.ts'

const QUOTE_HELP = 'must be one character other than a blank, or null for none'

const format = {
  delimiter: z
    .string()
    .regex(/^[^"\r\n]$/, { error: 'must be one character other than a double quote, such as "," or ";"' })
    .meta({ title: 'one character' })
    .default(',')
    .describe('Character between two columns; "\\t" is a tab.'),
  quote: z
    .string({ error: QUOTE_HELP })
    .regex(/^\S$/, { error: QUOTE_HELP })
    .meta({ title: 'one character' })
    .nullable()
    .default('"')
    .describe('Character around values that hold a delimiter; null where there is none.'),
  encoding: text
    .meta({ title: 'encoding' })
    .default('utf8')
    .describe(
      'utf8, utf16le, utf16be, any label of the WHATWG such as windows-1250, or auto, which detects UTF-8 and UTF-16.',
    ),
  trailer: z
    .strictObject({
      pattern: text.describe(
        'Regular expression (RE2) of the last line; its first group, where it has one, is the number of rows.',
      ),
    })
    .exactOptional()
    .describe('The line that ends every file. A file without it was cut off.'),
  rows: z
    .boolean()
    .default(false)
    .describe('true: beside every file is <path>.rows, which begins with the number of rows.'),
  sha256: z
    .boolean()
    .default(false)
    .describe('true: beside every file is <path>.sha256, as sha256sum writes it.'),
  maxAge: duration.exactOptional().describe('An older file is refused.'),
}

const paths = z
  .union([path, z.array(path).min(1)], {
    error: 'must be a path, a glob such as users-*.csv, or a list of these',
  })
  .describe('The file, a glob or a list; CSV with a header line, plain or gzip.')

const file = { path: paths, ...format }

/** One section for both forms, so that a fault in either is reported at its position. */
const groups = z
  .strictObject({
    path: paths.exactOptional(),
    ...format,
    map: groupMap.exactOptional(),
    column: attribute
      .exactOptional()
      .describe(
        'Instead of a file: the column of the users that names their groups. The text is the id of the group.',
      ),
    separator: text
      .exactOptional()
      .describe('Text between the groups of one user. Left out: one group at most.'),
    name: expression
      .exactOptional()
      .describe('Name of a group, made of the column, such as "Team {teams}". Left out: the text itself.'),
  })
  .check(({ value, issues }) => {
    const fault = (key: string, message: string) =>
      issues.push({ code: 'custom', path: [key], message, input: value })
    if (value.column === undefined) {
      if (value.path === undefined) fault('path', 'is missing; it must be a path, or give column instead')
      if (value.map === undefined) fault('map', 'is missing; it must be a section with options')
      for (const key of ['separator', 'name'] as const) {
        if (value[key] !== undefined) fault(key, 'has no use without column')
      }
      return
    }
    for (const key of ['path', 'map'] as const) {
      if (value[key] !== undefined) fault(key, 'has no use beside column')
    }
  })
  .describe('The file with the groups, one a line; or the column of the users that names them.')

export const csvSource = z
  .strictObject({
    type: z.literal('csv'),
    users: z.strictObject({ ...file, map: userMap }).describe('The file with the users, one a line.'),
    groups: groups.exactOptional(),
    members: z
      .strictObject({
        ...file,
        map: z
          .strictObject({
            group: attribute.describe("Column with the group's id."),
            user: attribute.describe("Column with the user's id."),
          })
          .describe('Which column is which.'),
      })
      .exactOptional()
      .describe('The file that says which user is in which group, one pair a line.'),
    badRows: z
      .enum(['skip', 'refuse'])
      .default('skip')
      .describe('A row that cannot be understood: skip continues the run without deletes, refuse stops it.'),
    settle: timeout
      .exactOptional()
      .describe('The files are read when none of them has changed for this long. Left out: at once.'),
    watch: z.boolean().default(false).describe('A change of the files starts a run.'),
  })
  .describe('CSV files.')
