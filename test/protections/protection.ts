/** A patch that removes one protection from `src/`, and the test file that must fail then. */
export interface Protection {
  /** Unique, kebab-case, and says what is protected. */
  readonly name: string
  /** The patched file, relative to `src/`. */
  readonly file: string
  /** Must occur in the file exactly once. */
  readonly find: string
  readonly replace: string
  /** Relative to `test/`. It passes without the patch, and fails by an assertion with it. */
  readonly test: string
  /** Runs only the tests whose full names match this regular expression, for slow files. */
  readonly only?: string
}
