import type { ContractRequest, ContractStep } from '../compose/api-contract.ts'
import type { Session } from './context.ts'
import { EXIT } from './exit-code.ts'
import {
  pathWidth,
  renderContractBegin,
  renderContractEnd,
  renderContractEndpoint,
} from './render/api-contract.ts'
import { printable } from '../printable.ts'

type Results = Extract<ContractStep, { step: 'endpoint' }>['results']

/**
 * Compares services with the API description and prints the results. The exit code is 0 when all follow it, 1 when one
 * differs, could not be compared or keeps something that the check made, and else 4 when a case is unclear.
 */
export async function checkApiContract(session: Session, request: ContractRequest): Promise<number> {
  const { compose, config, log, signal } = session
  let results: Results = []
  let width = 0
  let failed = false
  let unclear = false
  for await (const step of compose.runApiContract(config, log, request, signal)) {
    if (step.step === 'begin') {
      results = []
      width = pathWidth(step.paths)
    }
    if (step.step === 'endpoint') results = [...results, ...step.results]
    failed ||= isFailure(step)
    unclear ||= step.step === 'endpoint' && step.results.some(({ state }) => state === 'unclear')
    if (session.json) printJson(session, step)
    else session.print(...render(step, results, width))
  }
  if (failed) return EXIT.error
  return unclear ? EXIT.incomplete : EXIT.done
}

function isFailure(step: ContractStep): boolean {
  if (step.step === 'endpoint') return step.results.some(({ state }) => state === 'differs')
  return step.step === 'failed' || (step.step === 'end' && step.left.length > 0)
}

/** One line for each case. */
function printJson({ printJson: print }: Session, step: ContractStep): void {
  if (step.step !== 'endpoint') print(step)
  else for (const result of step.results) print({ step: 'case', sync: step.sync, ...result })
}

function render(step: ContractStep, results: Results, width: number): string[] {
  switch (step.step) {
    case 'begin':
      return renderContractBegin(step)
    case 'endpoint':
      return renderContractEndpoint(step.results, width)
    case 'end':
      return [...renderContractEnd(results, step.left), '']
    case 'failed':
      return [`FAIL  ${step.sync}: ${printable(step.detail)}`]
  }
}
