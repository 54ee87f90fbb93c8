import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { Webhook } from 'standardwebhooks'

/** What a receiver of webhooks got, and believed. */
export interface ReceivedWebhook {
  readonly id: string
  readonly payload: {
    readonly type: string
    readonly timestamp: string
    readonly data: {
      readonly sync: string | null
      readonly run: number | null
      readonly subject: string
      readonly text: string
    }
  }
}

export interface WebhookReceiver extends AsyncDisposable {
  readonly url: string
  /** In their order; a second one with the same id is not taken. */
  readonly received: ReceivedWebhook[]
  /** Requests that were not believed, and why. */
  readonly refused: string[]
  /** How many requests came, and the body of the last. */
  requests: number
  body: string
  /** Answers with this status instead of looking at the request; 0 breaks the connection. */
  answer: number | undefined
  /** Answers nothing to requests that it takes: the sender cannot know. */
  loseAnswers: boolean
  readonly headers: Record<string, string>
}

/** A receiver that checks signature and age with the library of standardwebhooks.com, and takes nothing twice. */
export async function startWebhookReceiver(secret: string, port = 0): Promise<WebhookReceiver> {
  const verifier = new Webhook(secret)
  const seen = new Set<string>()
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    receiver.requests += 1
    const body = (await request.toArray()).join('')
    receiver.body = body
    if (receiver.answer === 0) return void request.socket.destroy()
    if (receiver.answer !== undefined)
      return void response.writeHead(receiver.answer, receiver.headers).end('no')
    try {
      const headers = request.headers as Record<string, string>
      const payload = verifier.verify(body, headers) as ReceivedWebhook['payload']
      const id = headers['webhook-id']!
      if (!seen.has(id)) receiver.received.push({ id, payload })
      seen.add(id)
      if (receiver.loseAnswers) request.socket.destroy()
      else response.writeHead(204).end()
    } catch (error) {
      receiver.refused.push(String(error))
      response.writeHead(400).end()
    }
  }
  const server = createServer((request, response) => void take(request, response))
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?key=in-the-url`,
    received: [],
    refused: [],
    requests: 0,
    body: '',
    answer: undefined,
    loseAnswers: false,
    headers: {},
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return receiver
}

export interface ReceivedMail {
  readonly from: string
  readonly to: readonly string[]
  /** The whole message. */
  readonly text: string
  readonly secure: boolean
  readonly user: string | undefined
}

export interface MailServer extends AsyncDisposable {
  readonly port: number
  readonly received: ReceivedMail[]
  /** Of how many it said that it has them. */
  answered: number
  /** How long it takes until it says that it has a mail, in milliseconds. */
  delayMs: number
}

export async function startMailServer(
  options: SMTPServerOptions & { readonly login?: readonly [user: string, password: string] } = {},
): Promise<MailServer> {
  const { login, ...rest } = options
  const received: ReceivedMail[] = []
  const server = new SMTPServer({
    authOptional: login === undefined,
    disabledCommands: rest.key === undefined ? ['STARTTLS'] : [],
    onAuth({ username, password }, _session, done) {
      const isRight = username === login?.[0] && password === login?.[1]
      if (isRight) done(null, { user: username })
      else done(new Error('wrong login'))
    },
    onRcptTo({ address }, _session, done) {
      if (address.startsWith('nobody')) {
        done(Object.assign(new Error('no such user here'), { responseCode: 550 }))
      } else done()
    },
    async onData(stream, session, done) {
      const text = (await stream.toArray()).join('')
      const { mailFrom, rcptTo } = session.envelope
      received.push({
        from: mailFrom === false ? '' : mailFrom.address,
        to: rcptTo.map(({ address }) => address),
        text,
        secure: session.secure,
        user: session.user as string | undefined,
      })
      setTimeout(() => {
        mails.answered += 1
        done()
      }, mails.delayMs)
    },
    ...rest,
  })
  server.on('error', () => undefined)
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  const mails: MailServer = {
    port: (server.server.address() as AddressInfo).port,
    received,
    answered: 0,
    delayMs: 0,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  }
  return mails
}
