import type { Command } from 'commander'
import { DirsyncdError } from '../../base/errors.ts'
import { baseUrl } from '../../base/yaml/values.ts'
import { named, wholeNumber } from '../../base/terminal/arguments.ts'
import type { BareSession, Runner } from './context.ts'
import type { ConformanceRequest, ConformanceStep } from '../conformance.ts'
import {
  pathWidth,
  renderContractBegin,
  renderContractEnd,
  renderContractEndpoint,
} from './render-conformance.ts'

const HELP = `
Compares a service with what the API description states: sends good requests to every endpoint, and requests without a
token, with unknown ids and without required fields. Without --writes, it sends only GET, fewer than 200 requests. With
--writes, it sends about 400: it creates users and groups of its own in the directory and removes each after its case,
tests whether the service creates several with one request (the option createBatch of dirsyncd), changes the token's
first subscription and restores it at the end, and reads credentials, which the service records as events. It resets a
password only with --reset-password; the new password stays. Without --rate, it sends as many requests as the service
answers.

A case that gets a server error or no answer is tried once more. The exit code is 1 if the service differs or something
could not be removed, else 0.

Examples:
  access-service conformance https://access.example.com --token-file token --organization 1 --directory 7
  access-service conformance http://127.0.0.1:8090 --token-file token --organization 1 --directory 7 --writes --json`

interface Options extends Omit<ConformanceRequest, 'baseUrl' | 'writes'> {
  readonly writes?: boolean
}

export function addConformance(program: Command, run: Runner): void {
  program
    .command('conformance')
    .description('Test any service against the description of its API.')
    .argument('<url>', 'Address of the service, without /api/v2.')
    .requiredOption('--token-file <file>', 'File with the access token.', named)
    .requiredOption('--organization <number>', 'Number of the organization.', wholeNumber)
    .requiredOption('--directory <number>', 'Number of a directory in it.', wholeNumber)
    .option('--writes', 'Also send requests that write.')
    .option(
      '--reset-password <subscription>',
      'With --writes: also reset the password of this subscription.',
      wholeNumber,
    )
    .option(
      '--email-domain <domain>',
      'Domain of the e-mails that are written (default: that of the first user).',
      named,
    )
    .option('--rate <number>', 'Send at most so many requests a second.', wholeNumber)
    .option('--proxy <url>', 'HTTP proxy that connects to the service (CONNECT).', named)
    .option(
      '--ca <file>',
      'PEM file with the CA of the service (default: the CAs of Node and of this machine).',
      named,
    )
    .addHelpText('after', HELP)
    .action((url: string, { writes = false, ...options }: Options) =>
      run((session) => compareAll(session, requireWrites({ ...options, baseUrl: toBaseUrl(url), writes })), {
        needsConfig: false,
      }),
    )
}

/** Commander would repeat a wrong value, which may hold a password. */
function toBaseUrl(value: string): string {
  const { data, error } = baseUrl.safeParse(value)
  if (data !== undefined) return data.replace(/\/+$/, '')
  throw new DirsyncdError('usage', `The address of the service ${error.issues[0]?.message}.`)
}

function requireWrites(request: ConformanceRequest): ConformanceRequest {
  if (request.writes || request.resetPassword === undefined) return request
  throw new DirsyncdError('usage', 'The option --reset-password needs --writes.')
}

type Results = Extract<ConformanceStep, { step: 'endpoint' }>['results']

/** The exit code is 1 if the service differs or keeps test data, else 0. */
async function compareAll(session: BareSession, request: ConformanceRequest): Promise<number> {
  let results: Results = []
  let width = 0
  let failed = false
  for await (const step of session.compare(request, session)) {
    if (step.step === 'begin') width = pathWidth(step.paths)
    if (step.step === 'endpoint') results = [...results, ...step.results]
    failed ||= isFailure(step)
    if (session.json) printJson(session, step)
    else session.print(...render(step, results, width))
  }
  return failed ? 1 : 0
}

function isFailure(step: ConformanceStep): boolean {
  if (step.step === 'endpoint') return step.results.some(({ state }) => state === 'differs')
  return step.step === 'end' && step.left.length > 0
}

function printJson({ printJson: print }: BareSession, step: ConformanceStep): void {
  if (step.step !== 'endpoint') print(step)
  else for (const result of step.results) print({ step: 'case', ...result })
}

function render(step: ConformanceStep, results: Results, width: number): string[] {
  switch (step.step) {
    case 'begin':
      return renderContractBegin(step)
    case 'endpoint':
      return renderContractEndpoint(step.results, width)
    case 'end':
      return renderContractEnd(results, step.left)
  }
}
