import type { z } from 'zod'

/** `name` is the word of the command. */
export interface Resource {
  readonly name: string
  /** Such as `an installation`. */
  readonly withArticle: string
  readonly purpose: string
  /** Its fields in the import file, with `id`; each described with `field` or `fileOnly`. */
  readonly schema: z.ZodObject
  /** The owner's id is in no field. */
  readonly owner?: 'organization' | 'contact'
  /** The columns of `list`, after `id` and the owner. */
  readonly listed: readonly string[]
  readonly example: string
}

export interface FieldMeta {
  /** For `--help`. */
  readonly description?: string
  /** The option's name, if not the field's; false where the command line cannot set the field. */
  readonly flag?: string | false
  /** The values that the command line accepts, of those of the file. */
  readonly choices?: readonly string[]
}

export function field<Schema extends z.ZodType>(
  schema: Schema,
  description: string,
  more: Omit<FieldMeta, 'description'> = {},
): Schema {
  return schema.meta({ description, ...more })
}

export function fileOnly<Schema extends z.ZodType>(schema: Schema): Schema {
  return schema.meta({ flag: false })
}
