import { type AddHelpTextPosition, Command, type ErrorOptions, Help, type HelpContext } from 'commander'
import { itemLines, textLines } from './help.ts'

/** Help fits the terminal's width; errors name the help that explains them. */
export class ProgramCommand extends Command {
  override createCommand(name?: string): Command {
    return new ProgramCommand(name)
  }

  override createHelp(): Help {
    return Object.assign(new FittingHelp(), this.configureHelp())
  }

  override addHelpText(position: AddHelpTextPosition, text: unknown): this {
    return super.addHelpText(position, ({ command }) => {
      const columns = command.configureOutput().getOutHelpWidth?.() ?? 80
      return textLines(String(text), columns).join('\n')
    })
  }

  override error(message: string, options?: ErrorOptions): never {
    return super.error(`${message.replace(/\.$/, '')}; see ${nameOf(this)} --help`, options)
  }

  /** Commander asks for the help as an error where a command is missing. */
  override help(context?: HelpContext | ((text: string) => string)): never {
    const isError = typeof context === 'object' && context.error
    return isError
      ? this.error('error: a command is missing', { code: 'commander.help' })
      : super.help(context as HelpContext)
  }
}

/** `dirsyncd quarantine list` */
export function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`
}

class FittingHelp extends Help {
  override formatItem(term: string, termWidth: number, description: string): string {
    return itemLines(term, description, { termWidth, columns: this.helpWidth ?? 80 }).join('\n')
  }
}
