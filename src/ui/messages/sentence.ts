import type { Fact } from '../../core/notice.ts'
import type { Quote } from './words.ts'

/** A table of the sentences of one kind of fact. It does not compile without a code or with an unknown parameter. */
export type Sentences<Params> = {
  readonly [Code in keyof Params]: (params: Params[Code], quote: Quote) => string
}

export function sentence<Params>(table: Sentences<Params>, fact: Fact<Params>, quote: Quote): string {
  // The parameters of a fact are those of its code, which the type of one row cannot say.
  const say: (params: Params[keyof Params], quote: Quote) => string = table[fact.code]
  return say(fact.params, quote)
}
