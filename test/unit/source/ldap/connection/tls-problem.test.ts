import { expect, test } from 'vitest'
import {
  certificateDemand,
  connectProblem,
  isCertificateProblem,
} from '../../../../../src/source/ldap/connection/tls-problem.ts'

function failure(code: string, message = 'details'): Error {
  return Object.assign(new Error(message), { code })
}

test.each([
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'its certificate is not trusted; give its CA in tls.ca (details)', true],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is for another host', true],
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

/** Valid until 2026-11-20 and for a hundred years. */
const EXPIRED = `-----BEGIN CERTIFICATE-----
MIIBHTCBwwIUD6QXIrxDoFigB8+E9CAO/2k+z1kwCgYIKoZIzj0EAwIwETEPMA0G
A1UEAwwGT2xkIENBMB4XDTI2MTEyMTEzMzAyNloXDTI2MTEyMDEzMzAyNlowETEP
MA0GA1UEAwwGT2xkIENBMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEa19rjwXG
MvemLYvsEWGy6HUprrYdcZJN3Cy/CUoLAdR9swXlYDbdscN24axyWY9mYQqtZP7w
YEgsqUv1QzUOPjAKBggqhkjOPQQDAgNJADBGAiEAlKr/OKBEChZy6dTvMpnFBBfE
AepWk5MJRd1ph6u1NBwCIQDE5xmgkuammEI3L5kTp2jidariYQuKqWKAqFzn+Wux
zg==
-----END CERTIFICATE-----`
const VALID = `-----BEGIN CERTIFICATE-----
MIIBHjCBxQIUUDg+Qjj93pcG3lOUhufzPMYnBeYwCgYIKoZIzj0EAwIwETEPMA0G
A1UEAwwGT2xkIENBMCAXDTI2MTEyMTEzMzAyNloYDzIxMjYxMDI4MTMzMDI2WjAR
MQ8wDQYDVQQDDAZPbGQgQ0EwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARrX2uP
BcYy96Yti+wRYbLodSmuth1xkk3cLL8JSgsB1H2zBeVgNt2xw3bhrHJZj2ZhCq1k
/vBgSCypS/VDNQ4+MAoGCCqGSM49BAMCA0gAMEUCIQC7z4QtJxlRaLsMLEpGZdYe
44zIwC5SRziRelZBr8pVdgIgf+gTFwzYmCMXVqsjDw6P7YbSZR5kN8MWkplqwqZf
h8w=
-----END CERTIFICATE-----`

test.each([
  ['none', undefined, 'its certificate is not trusted; give its CA in tls.ca (details)'],
  [
    'another one',
    [VALID],
    'its certificate is not trusted; it does not come from the CA in tls.ca (details)',
  ],
  [
    'that has expired',
    [EXPIRED],
    'its certificate is not trusted; the CA in tls.ca expired 2026-11-20 (details)',
  ],
  ['of which one is valid', [EXPIRED, VALID], 'its certificate is not trusted; it does not come from the CA'],
])('a CA %s', (_, ca, words) => {
  expect(connectProblem(failure('SELF_SIGNED_CERT_IN_CHAIN'), ca)).toContain(words)
})

test('a certificate for another host says for which', () => {
  const error = Object.assign(failure('ERR_TLS_CERT_ALTNAME_INVALID'), {
    cert: { subjectaltname: 'DNS:ldap.example.org, IP Address:10.0.0.1' },
  })
  expect(connectProblem(error)).toBe(
    'its certificate is for another host (it is for ldap.example.org, 10.0.0.1); connect by such a name, with its address in /etc/hosts where DNS does not know it',
  )
  const old = Object.assign(failure('ERR_TLS_CERT_ALTNAME_INVALID'), {
    cert: { subject: { CN: 'dc1.corp.example' } },
  })
  expect(connectProblem(old)).toContain('(it is for dc1.corp.example); connect by such a name')
})
