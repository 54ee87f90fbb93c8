import { expect, test } from 'vitest'
import {
  certificateDemand,
  connectProblem,
  isCertificateProblem,
} from '../../../../src/source/ldap/tls-problem.ts'

function failure(code: string, message = 'details'): Error {
  return Object.assign(new Error(message), { code })
}

test.each([
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'its certificate is not trusted; give its CA in tls.ca (details)', true],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is for another host (details)', true],
  ['CERT_HAS_EXPIRED', 'its certificate has expired', true],
  ['CERT_REVOKED', 'details', true],
  ['ECONNREFUSED', 'connection refused', false],
  ['ENOTFOUND', 'the host name is unknown', false],
  ['ECONNRESET', 'the connection was reset', false],
  ['EPROTO', 'it does not speak TLS there', false],
])('%s is said in words, and whether the certificate is at fault', (code, words, certificate) => {
  expect(connectProblem(failure(code))).toBe(words)
  expect(isCertificateProblem(failure(code))).toBe(certificate)
})

test.each([
  ['ssl3_read_bytes:tlsv13 alert certificate required:', 'it wants a client certificate; give it in'],
  ['ssl3_read_bytes:tlsv1 alert unknown ca:', 'it does not take the client certificate'],
  ['ssl3_read_bytes:ssl/tls alert bad certificate:', 'it does not take the client certificate'],
])('%s is about the certificate of the client', (message, words) => {
  expect(certificateDemand(failure('ERR_SSL', message))).toContain(words)
})

test('a reset is not about the certificate of the client', () => {
  expect(certificateDemand(failure('ECONNRESET', 'read ECONNRESET'))).toBeUndefined()
})
