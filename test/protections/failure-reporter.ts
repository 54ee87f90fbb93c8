import { writeFileSync } from 'node:fs'
import type { SerializedError } from 'vitest'
import type { Reporter, TestModule } from 'vitest/node'

/** What a run of a test file ended with. */
export interface TestFileResult {
  /** The full names of the tests that passed. */
  readonly passed: readonly string[]
  readonly failures: readonly Failure[]
}

interface Failure {
  readonly test: string
  readonly byAssertion: boolean
  readonly message: string
}

/** Writes a result as JSON to the path in PROTECTIONS_RESULT. */
// oxlint-disable-next-line import/no-default-export -- vitest requires it
export default class FailureReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const failedTests = tests.flatMap((test) =>
      (test.result().errors ?? []).map((error) => failure(test.fullName, error)),
    )
    const failedFiles = modules.flatMap((module) =>
      [module, ...module.children.allSuites()].flatMap((part) =>
        part.errors().map((error) => failure(module.relativeModuleId, error)),
      ),
    )
    const stray = unhandled.map((error) => ({
      ...failure('outside of the tests', error),
      byAssertion: false,
    }))
    const result: TestFileResult = {
      passed: tests.filter((test) => test.result().state === 'passed').map((test) => test.fullName),
      failures: [...failedTests, ...failedFiles, ...stray],
    }
    writeFileSync(process.env['PROTECTIONS_RESULT'] ?? '', JSON.stringify(result))
  }
}

function failure(test: string, error: SerializedError): Failure {
  return { test, byAssertion: isAssertion(error), message: error.message?.split('\n')[0] ?? 'no message' }
}

/** fast-check reports a failed property with its own error class, which does not always keep the cause. */
function isAssertion(error: SerializedError): boolean {
  if (error.name === 'AssertionError') return true
  if (error.cause !== undefined) return isAssertion(error.cause)
  return error.message?.startsWith('Property failed after') ?? false
}
