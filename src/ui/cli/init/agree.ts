import { freePagesAddress } from '../../../operations/init/pages-address.ts'
import { isDeepStrictEqual } from 'node:util'
import type { RawConfiguration } from '../../../operations/init/yaml.ts'
import type { RawDirectory, RawSource, RawSync } from '../../../operations/init/draft.ts'
import { DirsyncdError } from '../../../base/errors.ts'
import type { BareSession } from '../context.ts'
import { renderPlanCounts } from '../render/report.ts'
import { askWhatAgain } from './again.ts'
import type { Init } from './context.ts'
import { askEmails, EMAIL_FLAGS, EMAIL_TOPIC, type EmailAnswers } from './emails.ts'
import { askCsv, CSV_TOPICS } from './csv.ts'
import { askDirectory, DIRECTORY_TOPICS, WHICH } from './directory.ts'
import { askMembership, MEMBERSHIP, MEMBERSHIP_TOPIC } from './membership.ts'
import { type Planned, planFirst, renderLeftOut, renderMembers, renderRenames } from './first-plan.ts'
import { askLdap, LDAP_TOPICS } from './ldap.ts'
import { RIGHT } from './preview.ts'
import type { Choice } from './prompts.ts'
import { askSync, SYNC_TOPICS } from './sync.ts'

interface Known {
  source?: RawSource
  directory?: RawDirectory
  emails?: { readonly of: unknown; readonly answers: EmailAnswers }
  membership?: 'report' | 'write'
  listen?: string
}

export function agreeOn(
  session: BareSession,
  init: Init,
): Promise<Planned & { configuration: RawConfiguration }> {
  const { answers, say } = init
  const known: Known = {}
  return answers.untilItWorks(
    () => askWhatAgain(init, topicsOf(init, known)),
    async () => {
      if (answers.isAskedAgain(RIGHT)) delete known.source
      if (WHICH.some((flag) => answers.isAskedAgain(flag))) delete known.directory
      if (known.directory === undefined || answers.isAskedAgain(MEMBERSHIP)) delete known.membership
      const configuration = await askAll(init, known)
      await using stack = new AsyncDisposableStack()
      const planned = await planFirst(session, init, configuration)
      stack.use(planned.stage)
      const { plan } = planned
      say(
        ...renderPlanCounts(plan),
        ...renderRenames(plan),
        ...renderMembers(plan),
        ...renderLeftOut(plan),
        '',
      )
      await requireAgreement(init)
      stack.move()
      return { ...planned, configuration }
    },
  )
}

function topicsOf({ emails: { found } }: Init, { source }: Known): readonly Choice<readonly string[]>[] {
  const mayAskEmails = found !== undefined && (found.domains.length > 1 || found.bad.length > 0)
  return [
    ...(source === undefined ? [] : source.type === 'ldap' ? LDAP_TOPICS : CSV_TOPICS),
    ...DIRECTORY_TOPICS,
    ...(mayAskEmails ? [EMAIL_TOPIC] : []),
    ...(source?.groups === undefined ? [] : [MEMBERSHIP_TOPIC]),
    ...SYNC_TOPICS,
  ]
}

async function askAll(init: Init, known: Known): Promise<RawConfiguration> {
  const { say } = init
  known.source ??= await askSource(init)
  say('')
  known.directory ??= await askDirectory(init)
  say('')
  const { source, directory } = known
  const emails = await emailsOf(init, known, { source, directory })
  if (source.groups !== undefined) known.membership ??= await askMembership(init, directory)
  const membership = source.groups === undefined ? undefined : known.membership
  const { name, schedule, dataDir } = await askSync(init)
  const written = { ...directory, ...emails, ...(membership !== undefined && { membership }) }
  const sync: RawSync = {
    name,
    ...(schedule !== undefined && { schedule }),
    source,
    directory: written,
    policy: 'mirror',
  }
  known.listen ??= await freePagesAddress()
  return { dataDir, admin: { listen: known.listen }, syncs: [sync] }
}

/** Asked again only on request, or where the e-mails of the source have changed. */
async function emailsOf(
  init: Init,
  known: Known,
  { source, directory }: { readonly source: RawSource; readonly directory: RawDirectory },
): Promise<EmailAnswers> {
  const { answers, emails } = init
  const of = { found: emails.found, baseUrl: directory.baseUrl, directoryId: directory.directoryId }
  const isSame = isDeepStrictEqual(known.emails?.of, of)
  if (known.emails !== undefined && isSame && !EMAIL_FLAGS.some((flag) => answers.isAskedAgain(flag)))
    return known.emails.answers
  if (known.emails !== undefined && !isSame) for (const flag of EMAIL_FLAGS) answers.forgetAnswer(flag)
  const asked = await askEmails(init, source, directory)
  known.emails = { of, answers: asked }
  return asked
}

async function askSource(init: Init): Promise<RawSource> {
  const { answers, options } = init
  const kind = await answers.choose({
    flag: '--source',
    given: options.source,
    what: 'the kind of the source',
    message: 'Where are the users and groups now?',
    choices: [
      { value: 'ldap', name: 'In an LDAP server or Active Directory' },
      { value: 'csv', name: 'In CSV files' },
    ],
    hasProposal: false,
  })
  return kind === 'ldap' ? askLdap(init) : askCsv(init)
}

const WRITE = '--yes (write)'

/** Without a terminal, giving all options is agreement. */
async function requireAgreement({ answers, options, file, files }: Init): Promise<void> {
  if (!answers.hasPerson) return
  const also = files.size === 0 ? '' : ` and ${files.size === 1 ? 'a file' : `${files.size} files`} beside it`
  const isAgreed = await answers.confirm({
    flag: WRITE,
    given: options.yes,
    what: 'writing',
    message: `Write ${file}${also}?`,
    proposed: true,
  })
  if (isAgreed) return
  answers.forget([WRITE])
  throw new DirsyncdError('source-refused', 'Then some of the questions once more.')
}
