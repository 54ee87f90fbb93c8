/** `text` is complete for operators; the other fields repeat it for programs. `undefined` is "no value". */
export type TraceStep = AttributeStep | CallStep | ChoiceStep | FaultStep | ResultStep

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

/** The text names the chosen alternative, and why the ones before it have no value. */
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

/** Always the last step. */
export interface ResultStep {
  readonly kind: 'result'
  readonly text: string
  readonly value: string | undefined
}
