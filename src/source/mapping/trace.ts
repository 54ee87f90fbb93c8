/**
 * How one value came about, step by step, in the order in which it happened. `text` says the step to a person and
 * stands alone; the other fields are the same thing for programs. A value of `undefined` is "no value".
 */
export type TraceStep = AttributeStep | CallStep | ChoiceStep | FaultStep | ResultStep

/** An attribute or column was read. */
export interface AttributeStep {
  readonly kind: 'attribute'
  readonly text: string
  readonly attribute: string
  /** All values, as the source has them; the one that counts is the first by code unit. */
  readonly values: readonly string[]
}

/** A function, an operator or a template was worked out. */
export interface CallStep {
  readonly kind: 'call'
  readonly text: string
  /** As it is written in the configuration. */
  readonly expression: string
  readonly value: string | undefined
}

/** One of several alternatives was taken; the text says which, and why not the ones before it. */
export interface ChoiceStep {
  readonly kind: 'choice'
  readonly text: string
  /** As it is written in the configuration; `undefined` where no alternative had a value. */
  readonly chosen: string | undefined
}

/** The value could not be worked out for this entry, and so there is none. */
export interface FaultStep {
  readonly kind: 'fault'
  readonly text: string
}

/** What came out; always the last step. */
export interface ResultStep {
  readonly kind: 'result'
  readonly text: string
  readonly value: string | undefined
}
