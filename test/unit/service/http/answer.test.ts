import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { createLog } from '../../../../src/base/log/log.ts'
import { newToken } from '../../../../src/service/access-token.ts'
import { answerError } from '../../../../src/service/http/answer.ts'

test('the values that PostgreSQL puts into the details of an error reach neither the log nor the client', async () => {
  const lines: string[] = []
  const log = createLog('debug', { destination: { write: (line: string) => void lines.push(line) } })
  const token = newToken()
  const app = Fastify()
  app.setErrorHandler((error, request, reply) => answerError(log, error, request, reply))
  app.get('/users', () => {
    const error = new Error(`duplicate key value violates unique constraint "one_email" for ${token}`)
    const where = 'COPY users, line 1: "planted@example.org"'
    const detail = 'Key (email)=(planted@example.org) already exists.'
    throw Object.assign(error, { code: '23505', detail, where, parameters: ['planted@example.org'] })
  })
  const answer = await app.inject('/users')
  expect(answer.statusCode).toBe(500)
  expect(lines.join('')).toContain('one_email')
  expect(lines.join('') + answer.body).not.toContain('planted')
  expect(lines.join('')).not.toContain(token)
})
