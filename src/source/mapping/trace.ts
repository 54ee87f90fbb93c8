import { show, type Value } from './value.ts'

/** `text` is complete for operators; the other fields repeat it for programs. `undefined` is "no value". */
export type TraceStep = { readonly text: string } & (
  | {
      readonly kind: 'attribute'
      readonly attribute: string
      /** All values, as in the source; the mapping uses the first one by code unit. */
      readonly values: readonly string[]
    }
  | {
      /** A function, an operator or a template was evaluated. */
      readonly kind: 'call'
      /** As written in the configuration. */
      readonly expression: string
      readonly value: string | undefined
    }
  | {
      /** The text names the chosen alternative, and why the ones before it have no value. */
      readonly kind: 'choice'
      /** As written in the configuration; `undefined` when no alternative had a value. */
      readonly chosen: string | undefined
    }
  /** The value could not be computed for this entry, so it has none. */
  | { readonly kind: 'fault' }
  /** Always the last step. */
  | { readonly kind: 'result'; readonly value: string | undefined }
)

/** @param shown how the text shows the expression */
export function callStep(expression: string, value: Value, shown = expression): TraceStep {
  return { kind: 'call', text: `${shown} is ${show(value)}`, expression, value: plain(value) }
}

export function choiceStep(text: string, chosen: string | undefined): TraceStep {
  return { kind: 'choice', text, chosen }
}

/** @param first the value that counts, where one does */
export function attributeStep(attribute: string, values: readonly string[], first: string | null): TraceStep {
  const all = values.length === 0 ? 'no value' : show(values)
  const counts = values.length > 1 && first !== null ? `, of which ${show(first)} counts` : ''
  return { kind: 'attribute', text: `${attribute} has ${all}${counts}`, attribute, values: [...values] }
}

/** For programs. */
function plain(value: Value): string | undefined {
  if (value === null) return undefined
  return typeof value === 'object' ? value.join(', ') : String(value)
}
