export function fingerprintDigits(text: string): string {
  return text
    .replace(/^sha-?256[=: ]*/i, '')
    .replaceAll(/[:\s-]/g, '')
    .toLowerCase()
}
