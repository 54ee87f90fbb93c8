/** Letters that Unicode does not decompose into a base letter and an accent. */
const LETTERS: Readonly<Record<string, string>> = {
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ß: 'ss',
  þ: 'th',
  ð: 'd',
  đ: 'd',
  ł: 'l',
  ħ: 'h',
  ı: 'i',
  ŋ: 'n',
}

/** Lower-case ASCII letters and digits, separators in between. Removes accents; letters of other scripts are lost. */
export function slug(text: string, separator: string): string {
  const ascii = text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/['’]/g, '')
    .replace(/[^\0-\x7f]/g, (letter) => LETTERS[letter] ?? ' ')
  return ascii.match(/[a-z0-9]+/g)?.join(separator) ?? ''
}
