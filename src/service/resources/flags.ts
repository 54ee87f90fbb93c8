import { z } from 'zod'
import type { FieldMeta, Resource } from './resource.ts'

export interface Flag {
  /** Without `--`. */
  readonly name: string
  /** From the resource to the field: `['configuration', 'url']`. */
  readonly path: readonly string[]
  readonly kind: 'text' | 'number' | 'switch' | 'texts' | 'numbers' | 'file'
  readonly description: string
  readonly choices: readonly string[] | undefined
  /** `create` needs it. */
  readonly required: boolean
  /** A switch whose default is true: `create` has it as `--no-NAME`. */
  readonly onByDefault: boolean
}

/** In the order of the resource's fields. */
export function flagsOf({ schema }: Resource): Flag[] {
  return flagsIn(schema, [], true).filter(({ name }) => name !== 'id')
}

function flagsIn(schema: z.ZodObject, path: readonly string[], required: boolean): Flag[] {
  return Object.entries(schema.shape).flatMap(([key, each]) => {
    const field = each as z.ZodType
    const at = [...path, key]
    const plain = plainOf(field)
    const needed = required && !field.safeParse(undefined).success
    if (plain instanceof z.ZodObject) return flagsIn(plain, at, needed || isFilled(field))
    const { flag, choices, description = '' } = (field.meta() ?? {}) as FieldMeta
    if (flag === false) return []
    const kind = kindOf(plain)
    const onByDefault = kind === 'switch' && field.safeParse(undefined).data === true
    return [{ name: flag ?? kebab(key), path: at, kind, choices, description, required: needed, onByDefault }]
  })
}

/** An object that gets its default values when the file leaves it out. */
function isFilled(schema: z.ZodType): boolean {
  return schema instanceof z.ZodPrefault
}

/** Without defaults and other wrappers. */
function plainOf(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional) {
    return plainOf(schema.unwrap() as z.ZodType)
  }
  return schema
}

function kindOf(schema: z.ZodType): Flag['kind'] {
  if (schema instanceof z.ZodBoolean) return 'switch'
  if (schema instanceof z.ZodNumber) return 'number'
  if (schema instanceof z.ZodRecord) return 'file'
  if (schema instanceof z.ZodArray) return schema.element instanceof z.ZodNumber ? 'numbers' : 'texts'
  return 'text'
}

/** `has_saml` and `hasSaml` as `has-saml`. */
function kebab(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`).replaceAll('_', '-')
}
