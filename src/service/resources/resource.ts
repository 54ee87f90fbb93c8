import type { z } from 'zod'

/** What an operator manages: `name` is the word of the command. */
export interface Resource {
  readonly name: string
  /** With an article, such as `an installation`. */
  readonly one: string
  readonly purpose: string
  /** Its own fields, as the import file has them, with `id`; each says in `field` what it is. */
  readonly schema: z.ZodObject
  /** What it belongs to; its id is in no field. */
  readonly owner?: 'organization' | 'contact'
  /** The fields of the table of `list`, after `id` and the owner. */
  readonly listed: readonly string[]
  /** Arguments of `create`, as an example. */
  readonly example: string
}

/** How the command line has a field. */
interface Flag {
  /** Instead of the field's own name; false where the command line cannot set it. */
  readonly flag?: string | false
  /** The only values that the command line takes, of those that the file may have. */
  readonly choices?: readonly string[]
}

/** Says what a field is, for `--help`. */
export function field<Schema extends z.ZodType>(
  schema: Schema,
  description: string,
  flag: Flag = {},
): Schema {
  return schema.meta({ description, ...flag })
}

/** A field that only the import file sets. */
export function fileOnly<Schema extends z.ZodType>(schema: Schema): Schema {
  return schema.meta({ flag: false })
}
