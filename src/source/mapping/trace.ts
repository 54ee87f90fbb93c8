/**
 * One step of how a value was computed. `text` is a complete description for a person; the other fields say the same to
 * programs. A value of `undefined` is "no value".
 */
export type TraceStep = AttributeStep | CallStep | ChoiceStep | FaultStep | ResultStep

/** An attribute or column was read. */
export interface AttributeStep {
  readonly kind: 'attribute'
  readonly text: string
  readonly attribute: string
  /** All values, as in the source; the mapping uses the first one by code unit. */
  readonly values: readonly string[]
}

/** A function, an operator or a template was evaluated. */
export interface CallStep {
  readonly kind: 'call'
  readonly text: string
  /** As written in the configuration. */
  readonly expression: string
  readonly value: string | undefined
}

/** One of several alternatives was taken; the text says which one, and why none before it. */
export interface ChoiceStep {
  readonly kind: 'choice'
  readonly text: string
  /** As written in the configuration; `undefined` when no alternative had a value. */
  readonly chosen: string | undefined
}

/** The value could not be computed for this entry, so it has none. */
export interface FaultStep {
  readonly kind: 'fault'
  readonly text: string
}

/** The result; always the last step. */
export interface ResultStep {
  readonly kind: 'result'
  readonly text: string
  readonly value: string | undefined
}
