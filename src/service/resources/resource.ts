import type { z } from 'zod'

/** What an operator manages: `name` is the word of the command. */
export interface Resource {
  readonly name: string
  /** Such as `an installation`. */
  readonly withArticle: string
  readonly purpose: string
  /** Its own fields, as the import file has them, with `id`; each described with `field` or `fileOnly`. */
  readonly schema: z.ZodObject
  /** What it belongs to; its id is in no field. */
  readonly owner?: 'organization' | 'contact'
  /** The fields of the table of `list`, after `id` and the owner. */
  readonly listed: readonly string[]
  /** Arguments of `create`, as an example. */
  readonly example: string
}

/** What `meta()` of a field holds for the command line. */
export interface FieldMeta {
  /** For `--help`. */
  readonly description?: string
  /** The name of the option, if not that of the field; false where the command line cannot set the field. */
  readonly flag?: string | false
  /** The only values that the command line takes, of those that the file may have. */
  readonly choices?: readonly string[]
}

/** Says what a field is, for `--help`. */
export function field<Schema extends z.ZodType>(
  schema: Schema,
  description: string,
  more: Omit<FieldMeta, 'description'> = {},
): Schema {
  return schema.meta({ description, ...more })
}

/** A field that only the import file sets. */
export function fileOnly<Schema extends z.ZodType>(schema: Schema): Schema {
  return schema.meta({ flag: false })
}
