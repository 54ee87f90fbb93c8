/** A patch that takes one protection out of `src/`, and the test file that must notice it. */
export interface Protection {
  /** Unique, kebab-case, and says what is protected. */
  readonly name: string
  /** The patched file, relative to `src/`. */
  readonly file: string
  /** Stands in the file exactly once. */
  readonly find: string
  readonly replace: string
  /** Relative to `test/`. It passes without the patch, and fails by an assertion with it. */
  readonly test: string
  /** Runs only the tests whose full names match this regular expression: for files that take long. */
  readonly only?: string
}
