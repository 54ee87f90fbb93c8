/** The digits of a fingerprint, without what programs write around and between them. */
export function fingerprintDigits(text: string): string {
  return text
    .replace(/^sha-?256[=: ]*/i, '')
    .replaceAll(/[:\s-]/g, '')
    .toLowerCase()
}
