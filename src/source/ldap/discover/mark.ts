/** An attribute with few values, or few forms of values, that may tell kinds of users apart. */
export interface Mark {
  readonly attribute: string
  /** The most frequent first. */
  readonly values: readonly MarkValue[]
}

export interface MarkValue {
  readonly text: string
  readonly entries: number
  readonly filter: string
}
