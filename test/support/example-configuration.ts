import { exampleConfiguration } from '../../scripts/example-configuration.ts'

/** `config/example.yaml` with the options that it has commented out. */
export function wholeExample(): string {
  return exampleConfiguration().replaceAll(/^( *)#(?=[^ #\n])/gm, '$1')
}
