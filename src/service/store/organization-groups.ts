/** The form of a name that a search compares: composed and in lower case. */
export function foldName(name: string): string {
  return name.normalize('NFC').toLowerCase()
}
