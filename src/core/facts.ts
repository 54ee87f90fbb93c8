/** A code and its parameters, which are stored as JSON. `ui/messages` has a sentence for each code. */
export type Fact<Params> = {
  readonly [Code in keyof Params]: { readonly code: Code; readonly params: Params[Code] }
}[keyof Params]
