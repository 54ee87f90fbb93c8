#!/usr/bin/env node
import { startProgram } from './base/process/start-program.ts'

await startProgram('dirsyncd', async (io) => {
  const { runCli } = await import('./ui/cli/run.ts')
  const { askOn } = await import('./ui/cli/ask.ts')
  const { promptsOn } = await import('./ui/cli/init/prompts.ts')
  const { stdin, stdout, stderr } = process
  const isTerminal = stdin.isTTY && stdout.isTTY
  return runCli({
    ...io,
    ask: isTerminal ? askOn({ input: stdin, output: stderr }) : undefined,
    prompts: isTerminal ? promptsOn({ input: stdin, output: stdout }) : undefined,
  })
})
